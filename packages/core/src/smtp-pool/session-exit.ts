import { concernsOneDomain, findRefusalOfUs } from "@mailproof/mail/smtp/classify";
import type { HostAttempt } from "@mailproof/mail/smtp/connect";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { isFault } from "@mailproof/mail/smtp/wire";
import type { ObservedReply, SessionAdmission } from "./circuit-breaker/circuit-breaker.ts";
import { toCircuitSubject } from "./exits.ts";
import type { PendingProbe } from "./probe.ts";
import type { ProviderRefusal } from "./refusal.ts";
import type { AnsweredProbe, SessionPorts, SessionSummary } from "./session.ts";
import { findProviderKey, type SlotKey } from "./slots/slots.ts";

type BatchPorts = Pick<SessionPorts, "breaker" | "connect" | "exits">;

/** The way out of one session, and what it learns about it. */
export type SessionExit = {
  readonly connect: SmtpConnect;
  /** Returns the recipients that another exit may reach as remaining. */
  readonly record: <Summary extends SessionSummary>(summary: Summary) => Promise<Summary>;
  /** There was no session. */
  readonly release: () => Promise<void>;
};

/** Asks the circuit breaker of each provider that the session reaches. */
export const openSessionExit = async (
  { breaker, connect: connectOut, exits }: BatchPorts,
  own: SlotKey,
  batch: readonly PendingProbe[],
): Promise<SessionExit | "refused" | "wait"> => {
  const [first] = batch;
  if (!first) return "refused";
  const { hosts } = first;
  const { exit } = own;
  const ownAdmission = await breaker.admit(toCircuitSubject(own, first), exit);
  if (ownAdmission.kind !== "admitted") return ownAdmission.kind;
  const admissions = new Map<string, SessionAdmission>([[own.providerKey, ownAdmission]]);
  const getProviderKey = (host: string): string => findProviderKey(hosts, host);

  const connect: SmtpConnect = async (target, options) => {
    const providerKey = getProviderKey(target.host);
    const admission =
      admissions.get(providerKey) ??
      (await breaker.admit(toCircuitSubject({ providerKey }, first), exit));
    if (admission.kind !== "admitted") return "deadline";
    admissions.set(providerKey, admission);
    return connectOut(target, { ...options, exit });
  };

  const recordReplies = async (summary: SessionSummary): Promise<void> => {
    const replies = listHostReplies(summary);
    await Promise.all(
      [...admissions].map(([providerKey, admission]) => {
        const observed = replies
          .filter(({ host }) => getProviderKey(host) === providerKey)
          .map(({ about, refusal }) => ({ about, refusal }));
        return breaker.record(providerKey, admission, dropRepeated(observed));
      }),
    );
    for (const { one, refusal } of listDomainRefusals(summary))
      breaker.deferDomain(
        toCircuitSubject({ providerKey: getProviderKey(refusal.host) }, one),
        refusal,
      );
  };

  /** Where the session never left, another exit may do for all. */
  const isAnotherUp = (one: PendingProbe): boolean =>
    exits.listAdmitted(own, one).some((other) => other !== exit && !exits.isDown(other));

  /** A greylisting server expects the next attempt from the same address. */
  const withExit = (one: AnsweredProbe): AnsweredProbe =>
    exits.all.length > 1 ? { ...one, probeResult: { ...one.probeResult, exit } } : one;

  const record: SessionExit["record"] = async (summary) => {
    await recordReplies(summary);
    const isDown = isProxyDown(summary);
    if (isDown) exits.markDown(exit);
    const isRefused = createRefusalCheck(summary);
    const mayGoOn = (answered: AnsweredProbe): boolean => {
      const { one } = answered;
      if (isDown) return isAnotherUp(one);
      if (!isRefused(answered)) return false;
      const refusedExits = [...one.refusedExits, exit];
      const isAnotherLeft = exits.listAdmitted(own, { ...one, refusedExits }).length > 0;
      if (isAnotherLeft) one.refusedExits = refusedExits;
      return isAnotherLeft;
    };
    const going = new Set(summary.answered.filter(mayGoOn));
    // The circuit took over: a backoff would keep other recipients waiting for nothing.
    const isOpened = !exits.listAdmitted(own, { ...first, refusedExits: [] }).includes(exit);
    return {
      ...summary,
      refusal: isOpened ? null : summary.refusal,
      needsCooldown: isDown ? false : summary.needsCooldown,
      answered: summary.answered.filter((one) => !going.has(one)).map(withExit),
      remaining: [...[...going].map(({ one }) => one), ...summary.remaining],
    };
  };

  const release = () => recordReplies({ ...NO_SESSION, remaining: batch });
  return { connect, record, release };
};

const isProxyDown = ({ attempts }: SessionSummary): boolean =>
  attempts.length > 0 && attempts.every(({ result }) => result.ending?.reply === "proxy_failed");

/** Whether the exit was refused before a recipient was named, or throttled at this one. */
const createRefusalCheck = ({ attempts }: SessionSummary) => {
  const refusedHosts = new Set(attempts.filter(findOpeningRefusal).map(({ host }) => host));
  return ({ probeResult: { reply, host }, wasTried }: AnsweredProbe): boolean =>
    wasTried
      ? reply !== null && findRefusalOfUs(reply, { stage: "rcpt", mxHost: host }) === "throttle"
      : refusedHosts.has(host);
};

const NO_SESSION = {
  answered: [],
  attempts: [],
  host: "",
  refusal: null,
  needsCooldown: false,
  lostFlight: false,
} as const;

/** Several hosts of one provider that refuse the same session count once. */
const dropRepeated = (replies: readonly ObservedReply[]): readonly ObservedReply[] =>
  replies.filter(
    ({ about, refusal }, at) =>
      about !== null ||
      refusal === null ||
      !replies.slice(0, at).some((earlier) => earlier.about === null && earlier.refusal),
  );

// What the replies of a session show about us: whether the mail providers that it reached refuse our sessions.

/** A reply with the host that it is from. */
export type HostReply = ObservedReply & { readonly host: string };

/** In their order. A reply that shows neither is left out, such as a fault, or words that no rule reads. */
const listHostReplies = ({
  answered,
  attempts,
  host,
}: Pick<SessionSummary, "answered" | "attempts" | "host">): readonly HostReply[] => [
  ...attempts.slice(0, -1).flatMap(toOpeningReply),
  ...answered.flatMap((one) => toRecipientReply(one, host)),
  ...attempts.slice(-1).flatMap(toOpeningReply),
];

const toOpeningReply = (attempt: HostAttempt): readonly HostReply[] => {
  const refusal = findOpeningRefusal(attempt);
  return refusal ? [{ host: attempt.host, about: null, refusal }] : [];
};

const toRecipientReply = (
  { one: { domain, requester }, probeResult, wasTried }: AnsweredProbe,
  mxHost: string,
): readonly HostReply[] => {
  const { reply, finding, ip } = probeResult;
  if (!wasTried || !reply) return [];
  const about = { domain, account: requester.account };
  if (finding.aboutUs)
    return findRefusalOfUs(reply, { stage: "rcpt", mxHost })
      ? [{ host: mxHost, about, refusal: { host: mxHost, ip, stage: "rcpt", reply } }]
      : [];
  const isOfUse = finding.verdict !== "unknown" || finding.reason === "greylisted";
  return isOfUse ? [{ host: mxHost, about, refusal: null }] : [];
};

/** The refusal of us that ended the attempt before a recipient was named. */
const findOpeningRefusal = ({ host, ip, result }: HostAttempt): ProviderRefusal | null => {
  const { ending } = result;
  if (!ending || isFault(ending.reply) || ending.stage === "connect" || ending.stage === "rcpt")
    return null;
  const { stage, reply } = ending;
  return findRefusalOfUs(reply, { stage, mxHost: host }) ? { host, ip, stage, reply } : null;
};

/** The recipients whose domain alone refused us, by a 421 that ended the session. */
const listDomainRefusals = ({
  answered,
  host,
}: Pick<SessionSummary, "answered" | "host">): readonly (AnsweredProbe & {
  readonly refusal: ProviderRefusal;
})[] =>
  answered.flatMap((one) => {
    const { reply, ip } = one.probeResult;
    return one.wasTried &&
      reply?.code === 421 &&
      concernsOneDomain(reply, { stage: "rcpt", mxHost: host })
      ? [{ ...one, refusal: { host, ip, stage: "rcpt" as const, reply } }]
      : [];
  });
