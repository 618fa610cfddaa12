import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import type { ProbeCount } from "../daily-limits.ts";
import type { PendingProbe } from "../probe.ts";
import { runSession, type SessionPorts, type SessionSummary } from "../session.ts";
import { openSessionExit, type SessionExit } from "../session-exit.ts";
import { reportSession } from "../session-report.ts";
import {
  findProviderKey,
  getJitteredPauseMs,
  NO_REFUSAL,
  type ProviderBackoff,
  type Slot,
  type SlotKey,
  type SlotRequest,
  type SlotReturn,
  toSlotKey,
} from "./slots.ts";

/**
 * `backoff`: the provider's; null where there was no session. `isFull`: no slot was free and no server was asked; the
 * process tries again after `pauseMs`. `comeBack`: the same, and its recipients come back later.
 */
export type SlotSessionSummary = SessionSummary & {
  readonly backoff: ProviderBackoff | null;
  readonly isFull: boolean;
  readonly pauseMs?: number | undefined;
  readonly comeBack?: SlotReturn;
};

/** How long a session waits for a slot at another provider's host: meanwhile it holds its own slot. */
const FALLBACK_WAIT_MS = 20_000;

/**
 * Runs a session within the provider's concurrency across all processes. Recipients that it did not reach are in
 * `remaining`. The others get their results after the slot is released: a Lambda is frozen once the last caller has its
 * result, and would hold the slot for as long as a session may last.
 */
export const runWithSlot = async (
  ports: SessionPorts,
  slotKey: SlotKey,
  batch: readonly PendingProbe[],
  request: SlotRequest,
): Promise<SlotSessionSummary> => {
  const summary = await acquireAndRun(ports, slotKey, batch, request);
  await ports.quota.add(summary.answered.flatMap(toProbeCounts));
  for (const { one, probeResult } of summary.answered) one.resolve(probeResult);
  return summary;
};

const toProbeCounts = ({
  one,
  probeResult,
  wasTried,
}: SessionSummary["answered"][number]): readonly ProbeCount[] => {
  const { requester, domain, hosts } = one;
  const guesses = probeResult.unknownRecipients.length;
  if (!wasTried && guesses === 0) return [];
  const at = hosts.find(({ host }) => host === probeResult.host);
  const isUnknown = wasTried && probeResult.finding.verdict === "invalid";
  const unknown = guesses + Number(isUnknown);
  return [
    { account: requester.account, domain, at, unknown, recipients: guesses + Number(wasTried) },
  ];
};

const acquireAndRun = async (
  ports: SessionPorts,
  slotKey: SlotKey,
  batch: readonly PendingProbe[],
  request: SlotRequest,
): Promise<SlotSessionSummary> => {
  const exit = await openSessionExit(ports, slotKey, batch);
  if (exit === "refused") return createEmptySummary(batch);
  if (exit === "wait") return { ...createEmptySummary(batch), isFull: true };
  const acquired = await ports.slots.acquire(slotKey, request);
  if (acquired.kind === "acquired")
    return runThrough({ ...ports, connect: exit.connect }, slotKey, batch, {
      ownSlot: acquired.slot,
      record: exit.record,
    });
  await exit.release();
  const summary = createEmptySummary(batch);
  if (acquired.kind === "full") return { ...summary, isFull: true, pauseMs: acquired.pauseMs };
  return acquired.kind === "later"
    ? { ...summary, isFull: true, comeBack: acquired.comeBack }
    : { ...summary, backoff: acquired.backoff };
};

type HeldSlot = Pick<SessionExit, "record"> & { readonly ownSlot: Slot };

const runThrough = async (
  ports: SessionPorts,
  slotKey: SlotKey,
  batch: readonly PendingProbe[],
  { ownSlot, record }: HeldSlot,
): Promise<SlotSessionSummary> => {
  const hosts = batch[0]?.hosts ?? [];
  const fallbackSlots = new Map<string, Slot>();
  const account = batch[0]?.requester.account ?? "";
  const connect = limitFallbackHosts(ports, { hosts, account }, slotKey, fallbackSlots);
  const startedAtMs = ports.now().getTime();
  const summary = await record(await runSession({ ...ports, connect }, batch));
  const { answered, remaining } = summary;
  reportSession(ports, { host: slotKey.host, startedAtMs, batch }, summary);
  const ms = ports.now().getTime() - startedAtMs;
  const work = { ms, answered: answered.length, remaining: remaining.length };
  if (fallbackSlots.size === 0)
    return { ...summary, backoff: await ownSlot.release(summary, work), isFull: false };

  // A provider whose host did not answer, or was left for another, is not to blame for the other's refusal.
  const reachedProvider = findProviderKey(hosts, summary.host);
  const isOwn = slotKey.providerKey === reachedProvider;
  const [backoff = null] = await Promise.all(
    [[slotKey.providerKey, ownSlot] as const, ...fallbackSlots].map(([providerKey, slot]) =>
      slot.release(providerKey === reachedProvider ? summary : null),
    ),
  );
  return { ...summary, ...(!isOwn && NO_REFUSAL), backoff, isFull: false };
};

const createEmptySummary = (batch: readonly PendingProbe[]): SlotSessionSummary => ({
  ...NO_REFUSAL,
  answered: [],
  remaining: batch,
  host: "",
  lostFlight: false,
  attempts: [],
  backoff: null,
  isFull: false,
});

/**
 * When its first host cannot be reached, a session goes on to the next, which may be another provider's: many domains
 * share a second host. It needs a slot there, too.
 */
const limitFallbackHosts =
  (
    ports: SessionPorts,
    { hosts, account }: { readonly hosts: readonly MailHost[]; readonly account: string },
    own: SlotKey,
    fallbackSlots: Map<string, Slot>,
  ): SmtpConnect =>
  async (target, options) => {
    if (target.host === own.host) return ports.connect(target, options);
    const at = hosts.find(({ host }) => host === target.host);
    if (ports.quota.isReached(account, "", at)) return "deadline";
    const slotKey = toSlotKey(at, own.exit, ports.exits.getShare(own.exit));
    if (slotKey.providerKey !== own.providerKey && !fallbackSlots.has(slotKey.providerKey)) {
      const slot = await acquireFallbackSlot(ports, slotKey);
      if (!slot) return "deadline";
      fallbackSlots.set(slotKey.providerKey, slot);
    }
    return ports.connect(target, options);
  };

const acquireFallbackSlot = async (
  { slots, random, sleep }: SessionPorts,
  slotKey: SlotKey,
): Promise<Slot | null> => {
  for (let waitedMs = 0; waitedMs < FALLBACK_WAIT_MS; ) {
    const acquired = await slots.acquire(slotKey);
    if (acquired.kind === "acquired") return acquired.slot;
    if (acquired.kind === "backoff") return null;
    const ms = getJitteredPauseMs(random);
    await sleep(ms);
    waitedMs += ms;
  }
  return null;
};
