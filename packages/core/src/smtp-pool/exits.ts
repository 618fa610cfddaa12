import { createHash } from "node:crypto";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { isPublicIp } from "@mailproof/mail/ip";
import { getProbeMode, NO_POLICY, type ProbePolicy } from "@mailproof/mail/probe-policy";
import type { HostAttempt, SessionOutcome } from "@mailproof/mail/smtp/connect";
import { DIRECT_EXIT } from "@mailproof/mail/smtp/wire";
import * as v from "valibot";
import { DAY_MS } from "../lib/time.ts";
import { withTimeout } from "../lib/timeout.ts";
import type { Key } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { CircuitBreaker, CircuitSubject } from "./circuit-breaker/circuit-breaker.ts";
import type { PendingProbe } from "./probe.ts";
import { type SlotKey, toSlotKey } from "./slots/slots.ts";

/** For this long, an unreachable proxy gets no session while another exit is available. */
const DOWN_MS = 60_000;

type ExitPorts = {
  readonly breaker: CircuitBreaker;
  readonly now: () => Date;
  /** Absent: every exit gets its full share. */
  readonly warmUp?: WarmUp | undefined;
  readonly probePolicy?: ProbePolicy | undefined;
};

export type Exits = ReturnType<typeof createExits>;

export const toCircuitSubject = (
  { providerKey }: Pick<SlotKey, "providerKey">,
  { domain, requester: { account }, refusedExits }: PendingProbe,
): CircuitSubject => ({ providerKey, domain, account, refusedExits });

/** The IP addresses that sessions leave by: this machine's own, or one for each proxy. */
export const createExits = ({ breaker, now, warmUp, probePolicy = NO_POLICY }: ExitPorts) => {
  const downUntil = new Map<string, number>();
  const getShare = (exit: string): number => warmUp?.getShare(exit) ?? 1;
  const isDown = (exit: string): boolean => (downUntil.get(exit) ?? 0) > now().getTime();
  const listAdmitted = (slotKey: Pick<SlotKey, "providerKey">, one: PendingProbe) =>
    breaker.listExits(toCircuitSubject(slotKey, one));

  return {
    all: breaker.exits,
    first: breaker.exits[0] ?? DIRECT_EXIT,
    getShare,
    isDown,
    markDown: (exit: string): void => void downUntil.set(exit, now().getTime() + DOWN_MS),
    /** Lists the exits by which, as far as this process knows, the provider does not refuse the recipient. */
    listAdmitted,
    /** True when the exit is refused for this recipient or cannot be reached. */
    isClosedTo: (slotKey: SlotKey, one: PendingProbe): boolean =>
      !listAdmitted(slotKey, one).includes(slotKey.exit) || isDown(slotKey.exit),
    /** Under the policy `careful`, all processes together open one session with the provider, over all exits. */
    toSlotKey: (host: MailHost | undefined, exit: string): SlotKey => {
      const slotKey = toSlotKey(host, exit, getShare(exit));
      return host && getProbeMode(probePolicy, [host]) === "careful"
        ? { ...slotKey, limitKey: slotKey.providerKey, connections: 1, slots: [0] }
        : slotKey;
    },
    /**
     * Weighted rendezvous hashing: each exit is first for a share of the keys, and while one is left out only its own
     * keys move.
     */
    order: (exits: readonly string[], affinityKey: string): readonly string[] =>
      exits.length < 2
        ? exits
        : exits
            .map((exit) => ({ exit, score: scoreExit(affinityKey, exit, getShare(exit)) }))
            .toSorted((a, b) => b.score - a.score)
            .map(({ exit }) => exit),
  };
};

const scoreExit = (affinityKey: string, exit: string, share: number): number => {
  const hash = createHash("sha256").update(`${affinityKey} ${exit}`).digest().readUInt32BE();
  return -share / Math.log((hash + 0.5) / 2 ** 32);
};

/** When this many servers are unreachable and no server is reachable, our own egress is closed. */
const UNREACHED_HOSTS_MIN = 5;
const UNREACHED_FAULTS = new Set(["connect_timeout", "unreachable"]);

/**
 * Whether outbound port 25 is open. Most networks block it, and every probe then ends in a time-out: that is one fact
 * about our network, and no evidence about the servers.
 */
export const createEgressHealth = () => {
  const unreached = new Set<string>();
  let reached = false;

  const recordAttempt = ({ ip, host, result }: HostAttempt): void => {
    if (reached || !isPublicIp(ip, [])) return;
    const reply = result.ending?.stage === "connect" ? result.ending.reply : null;
    if (typeof reply === "string" && UNREACHED_FAULTS.has(reply)) unreached.add(host);
    // A refusal and a silent server both prove that the port is open.
    else reached = true;
  };

  return {
    recordAttempt: ({ attempts }: SessionOutcome): void => attempts.forEach(recordAttempt),
    isClosed: (): boolean => !reached && unreached.size >= UNREACHED_HOSTS_MIN,
  };
};

export type EgressHealth = ReturnType<typeof createEgressHealth>;

// Layout. When each exit was first used. It never expires: an IP address is new once.
//
//   pk           sk       what
//   EXIT#<name>  WARM_UP  first_used (ms)

/** A new IP address begins with few sessions at each provider (docs/egress.md, Warming up). */
const WARM_UP_SHARES = [
  { fromDay: 0, share: 0.2 },
  { fromDay: 3, share: 0.4 },
  { fromDay: 7, share: 0.6 },
  { fromDay: 14, share: 1 },
] as const;

/** A read that takes longer counts as failed. */
const TABLE_MS = 3_000;
/** The wait after a failed read. Until a read succeeds, the exit counts as new. */
const READ_AGAIN_MS = 60_000;

const FirstUse = v.object({ first_used: v.number() });

export type WarmUp = ReturnType<typeof createWarmUp>;
type WarmUpPorts = Pick<World, "table" | "now" | "sleep"> & {
  /** The exits; each is new unless the table contains an earlier first use. */
  readonly exits: readonly string[];
};

/** The share of each mail provider's limits that an exit has by its age. */
export const createWarmUp = ({ table, now, sleep, exits }: WarmUpPorts) => {
  const firstUsedMs = new Map<string, number>();
  let loading: Promise<unknown> = Promise.resolve();
  let loadedAtMs = Number.NEGATIVE_INFINITY;

  const load = async (exit: string): Promise<void> => {
    const key = toExitKey(exit);
    const set = { first_used: now().getTime() };
    const where = { first_used: { missing: true } } as const;
    const item =
      (await table.get(key)) ??
      (await table.write({ update: key, set, where, orCreate: true }).then(() => table.get(key)));
    firstUsedMs.set(exit, v.parse(FirstUse, item).first_used);
  };

  /** Call before the first session. Never rejects. */
  const ready = (): Promise<unknown> => {
    const unknown = exits.filter((exit) => !firstUsedMs.has(exit));
    const atMs = now().getTime();
    if (unknown.length > 0 && Math.abs(atMs - loadedAtMs) >= READ_AGAIN_MS) {
      loadedAtMs = atMs;
      const reads = Promise.allSettled(unknown.map(load));
      loading = withTimeout({ sleep }, TABLE_MS, reads);
    }
    return loading;
  };

  const getShare = (exit: string): number => {
    if (!exits.includes(exit)) return 1;
    const days = (now().getTime() - (firstUsedMs.get(exit) ?? now().getTime())) / DAY_MS;
    return WARM_UP_SHARES.findLast(({ fromDay }) => days >= fromDay)?.share ?? FIRST_SHARE;
  };

  return { ready, getShare };
};

const FIRST_SHARE = WARM_UP_SHARES[0].share;

const toExitKey = (exit: string): Key => ({ pk: `EXIT#${exit}`, sk: "WARM_UP" });
