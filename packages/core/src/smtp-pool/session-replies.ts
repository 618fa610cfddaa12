import { concernsOneDomain, findRefusalOfUs } from "@mailproof/mail/smtp/classify";
import type { HostAttempt } from "@mailproof/mail/smtp/connect";
import { REFUSED_WITNESS, WITNESS_REFUSED } from "@mailproof/mail/smtp/reply-rules/witness";
import { isFault } from "@mailproof/mail/smtp/wire";
import type { ObservedReply } from "./circuit-breaker/circuit-breaker.ts";
import type { AnsweredProbe, SessionSummary } from "./probe.ts";
import type { ProviderRefusal } from "./refusal.ts";

// Reads from the replies of a session whether the mail providers refuse our sessions.

/** A reply with its host. */
type HostReply = ObservedReply & { readonly host: string };

/** Lists the replies in their order, without those that show neither, such as a fault or words that no rule reads. */
export const listHostReplies = ({
  answered,
  attempts,
  host,
}: Pick<SessionSummary, "answered" | "attempts" | "host">): readonly HostReply[] => [
  ...attempts.slice(0, -1).flatMap(toOpeningReply),
  ...answered.flatMap((one) => toRecipientReply(one, host)),
  ...attempts.slice(-1).flatMap(toOpeningReply),
  ...answered.filter(isDisproved).slice(0, 1).map(toWitnessReply),
];

/** True when a witness was refused, so that the recipient's refusal is about us. */
const isDisproved = ({ probeResult }: AnsweredProbe): boolean =>
  probeResult.finding.reason === WITNESS_REFUSED;

const toWitnessReply = ({ probeResult: { host, ip } }: AnsweredProbe): HostReply => ({
  host,
  about: null,
  refusal: { host, ip, stage: "rcpt", reply: REFUSED_WITNESS },
});

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

/** Lists the recipients whose domain alone refused us, by a 421 that ended the session. */
export const listDomainRefusals = ({
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

/** Returns a check: true when the provider refused the exit before a recipient, throttled this recipient, or refused a witness. */
export const createRefusalCheck = ({ attempts }: SessionSummary) => {
  const refusedHosts = new Set(attempts.filter(findOpeningRefusal).map(({ host }) => host));
  return (one: AnsweredProbe): boolean => {
    const { reply, host } = one.probeResult;
    if (isDisproved(one)) return true;
    return one.wasTried
      ? reply !== null && findRefusalOfUs(reply, { stage: "rcpt", mxHost: host }) === "throttle"
      : refusedHosts.has(host);
  };
};

/** Several hosts of one provider that refuse the same session count once. */
export const dropRepeated = (replies: readonly ObservedReply[]): readonly ObservedReply[] =>
  replies.filter(
    ({ about, refusal }, at) =>
      about !== null ||
      refusal === null ||
      !replies.slice(0, at).some((earlier) => earlier.about === null && earlier.refusal),
  );
