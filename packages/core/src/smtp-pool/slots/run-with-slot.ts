import type { ChooseWitness } from "@mailproof/mail/smtp/session";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import type { SessionAdmission } from "../circuit-breaker/circuit-breaker.ts";
import type { ProbeCount } from "../daily-limits.ts";
import { toCircuitSubject } from "../exits.ts";
import type { AnsweredProbe, PendingProbe, SessionSummary } from "../probe.ts";
import { NO_SESSION } from "../results.ts";
import { runSession, type SessionPorts } from "../session.ts";
import {
  createRefusalCheck,
  dropRepeated,
  listDomainRefusals,
  listHostReplies,
} from "../session-replies.ts";
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
 * `backoff`: the provider's; null without a session. `isFull`: no slot was free and the process asked no server; the process
 * tries again after `pauseMs`. `comeBack`: no slot was free, and the recipients return later.
 */
export type SlotSessionSummary = SessionSummary & {
  readonly backoff: ProviderBackoff | null;
  readonly isFull: boolean;
  readonly pauseMs?: number | undefined;
  readonly comeBack?: SlotReturn;
};

/** How long a session waits for a slot at another provider's host, while it holds its own slot. */
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

/** The circuit's permission and the slot that the session needs at each mail provider. */
type Pass = { readonly admission: SessionAdmission; readonly slot: Slot };

const acquireAndRun = async (
  ports: SessionPorts,
  slotKey: SlotKey,
  batch: readonly PendingProbe[],
  request: SlotRequest,
): Promise<SlotSessionSummary> => {
  const { breaker, slots } = ports;
  const none = { ...NO_SESSION, remaining: batch, backoff: null, isFull: false };
  const [first] = batch;
  if (!first) return none;
  const admission = await breaker.admit(toCircuitSubject(slotKey, first), slotKey.exit);
  if (admission.kind === "refused") return none;
  if (admission.kind === "wait") return { ...none, isFull: true };
  const acquired = await slots.acquire(slotKey, request);
  if (acquired.kind === "acquired")
    return runThrough(ports, slotKey, batch, first, { admission, slot: acquired.slot });
  await breaker.record(slotKey.providerKey, admission, []);
  if (acquired.kind === "full") return { ...none, isFull: true, pauseMs: acquired.pauseMs };
  return acquired.kind === "later"
    ? { ...none, isFull: true, comeBack: acquired.comeBack }
    : { ...none, backoff: acquired.backoff };
};

const runThrough = async (
  ports: SessionPorts,
  own: SlotKey,
  batch: readonly PendingProbe[],
  first: PendingProbe,
  ownPass: Pass,
): Promise<SlotSessionSummary> => {
  const { breaker, now } = ports;
  const passes = new Map([[own.providerKey, ownPass]]);
  const getProviderKey = (host: string): string =>
    host === own.host ? own.providerKey : findProviderKey(first.hosts, host);
  const connect = createPassingConnect(ports, own, first, passes);
  const startedAtMs = now().getTime();
  const watch = (await ports.witnesses?.watch(own)) ?? null;
  const isOwn = (host: string) => getProviderKey(host) === own.providerKey;
  const chooseWitness: ChooseWitness = (results, mxHost) =>
    isOwn(mxHost) ? watch?.choose(results, mxHost) : undefined;
  const asked = await runSession({ ...ports, connect, chooseWitness }, batch);
  const session = watch ? await watch.judge(asked, isOwn(asked.host)) : asked;
  const replies = listHostReplies(session);
  await Promise.all(
    [...passes].map(([providerKey, { admission }]) => {
      const own = replies.filter(({ host }) => getProviderKey(host) === providerKey);
      return breaker.record(providerKey, admission, dropRepeated(own));
    }),
  );
  for (const { one, refusal } of listDomainRefusals(session)) {
    const providerKey = getProviderKey(refusal.host);
    breaker.deferDomain(toCircuitSubject({ providerKey }, one), refusal);
  }
  const summary = passOn(ports, own, first, session);
  const { answered, remaining } = summary;
  reportSession(ports, { host: own.host, startedAtMs, batch }, summary);

  const isAlone = passes.size === 1;
  // A provider whose host did not answer, or was left for another, is not to blame for the other's refusal.
  const isToBlame = (providerKey: string) =>
    isAlone || providerKey === getProviderKey(summary.host);
  const ms = now().getTime() - startedAtMs;
  const work = isAlone ? { ms, answered: answered.length, remaining: remaining.length } : undefined;
  const [backoff = null] = await Promise.all(
    [...passes].map(([providerKey, { slot }]) =>
      slot.release(isToBlame(providerKey) ? summary : null, work),
    ),
  );
  return {
    ...summary,
    ...(!isToBlame(own.providerKey) && NO_REFUSAL),
    backoff,
    isFull: false,
  };
};

/** Returns the recipients that another exit may reach. */
const passOn = (
  { exits }: SessionPorts,
  own: SlotKey,
  first: PendingProbe,
  summary: SessionSummary,
): SessionSummary => {
  const { exit } = own;
  const isDown = isProxyDown(summary);
  if (isDown) exits.markDown(exit);
  const isRefused = createRefusalCheck(summary);
  /** When the session never left this machine, another exit may serve all its recipients. */
  const isAnotherUp = (one: PendingProbe): boolean =>
    exits.listAdmitted(own, one).some((other) => other !== exit && !exits.isDown(other));
  const mayGoOn = (answered: AnsweredProbe): boolean => {
    const { one } = answered;
    if (isDown) return isAnotherUp(one);
    if (!isRefused(answered)) return false;
    const refusedExits = [...one.refusedExits, exit];
    const isAnotherLeft = exits.listAdmitted(own, { ...one, refusedExits }).length > 0;
    if (isAnotherLeft) one.refusedExits = refusedExits;
    return isAnotherLeft;
  };
  /** A greylisting server expects the next attempt from the same address. */
  const withExit = (one: AnsweredProbe): AnsweredProbe =>
    exits.all.length > 1 ? { ...one, probeResult: { ...one.probeResult, exit } } : one;
  const { true: going = [], false: answered = [] } = Object.groupBy(
    summary.answered,
    (one) => `${mayGoOn(one)}` as const,
  );
  // The circuit is open, so a backoff would only delay other recipients.
  const isOpened = !exits.listAdmitted(own, { ...first, refusedExits: [] }).includes(exit);
  return {
    ...summary,
    refusal: isOpened ? null : summary.refusal,
    needsCooldown: isDown ? false : summary.needsCooldown,
    answered: answered.map(withExit),
    remaining: [...going.map(({ one }) => one), ...summary.remaining],
  };
};

const isProxyDown = ({ attempts }: SessionSummary): boolean =>
  attempts.length > 0 && attempts.every(({ result }) => result.ending?.reply === "proxy_failed");

/**
 * When the first host is unreachable, a session tries the next host, which may belong to another provider: many domains share
 * a second host. The session needs a slot and the circuit's permission there, too.
 */
const createPassingConnect =
  (
    ports: SessionPorts,
    own: SlotKey,
    first: PendingProbe,
    passes: Map<string, Pass>,
  ): SmtpConnect =>
  async (target, options) => {
    const { exit } = own;
    if (target.host !== own.host) {
      const at = first.hosts.find(({ host }) => host === target.host);
      if (ports.quota.isReached(first.requester.account, "", at)) return "deadline";
      const slotKey = toSlotKey(at, exit, ports.exits.getShare(exit));
      const { providerKey } = slotKey;
      const pass = passes.get(providerKey) ?? (await acquirePass(ports, slotKey, first));
      if (!pass) return "deadline";
      passes.set(providerKey, pass);
    }
    return ports.connect(target, { ...options, exit });
  };

const acquirePass = async (
  { breaker, slots, random, sleep }: SessionPorts,
  slotKey: SlotKey,
  first: PendingProbe,
): Promise<Pass | null> => {
  const admission = await breaker.admit(toCircuitSubject(slotKey, first), slotKey.exit);
  if (admission.kind !== "admitted") return null;
  for (let waitedMs = 0; waitedMs < FALLBACK_WAIT_MS; ) {
    const acquired = await slots.acquire(slotKey);
    if (acquired.kind === "acquired") return { admission, slot: acquired.slot };
    if (acquired.kind === "backoff") break;
    const ms = getJitteredPauseMs(random);
    await sleep(ms);
    waitedMs += ms;
  }
  await breaker.record(slotKey.providerKey, admission, []);
  return null;
};
