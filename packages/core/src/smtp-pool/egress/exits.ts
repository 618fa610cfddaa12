import { createHash } from "node:crypto";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { getProbeMode, NO_POLICY, type ProbePolicy } from "@mailproof/mail/probe-policy";
import { DIRECT_EXIT } from "@mailproof/mail/smtp/wire";
import type { CircuitBreaker, CircuitSubject } from "../circuit-breaker/circuit-breaker.ts";
import type { PendingProbe } from "../probe.ts";
import { type SlotKey, toSlotKey } from "../slots/slots.ts";
import type { WarmUp } from "./warm-up.ts";

/** A proxy that could not be reached is left out for so long, where there is another exit. */
const DOWN_MS = 60_000;

type ExitPorts = {
  readonly breaker: CircuitBreaker;
  readonly now: () => Date;
  /** Absent: every exit has its full share. */
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

  return {
    all: breaker.exits,
    first: breaker.exits[0] ?? DIRECT_EXIT,
    getShare,
    isDown: (exit: string): boolean => (downUntil.get(exit) ?? 0) > now().getTime(),
    markDown: (exit: string): void => void downUntil.set(exit, now().getTime() + DOWN_MS),
    /** Those by which the provider does not refuse the recipient, as far as this process knows. */
    listAdmitted: (slotKey: Pick<SlotKey, "providerKey">, one: PendingProbe): readonly string[] =>
      breaker.listExits(toCircuitSubject(slotKey, one)),
    /** Where the operator wants care, all processes have one session with the provider, by whichever exit. */
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
