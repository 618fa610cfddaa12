import type { SmtpConnect } from "../../mail/smtp/wire.ts";
import type { PendingProbe } from "../../verify/recipient-check.ts";
import {
  type CircuitSubject,
  DIRECT_EXIT,
  type ObservedReply,
  type SessionAdmission,
} from "../circuit-breaker/circuit-breaker.ts";
import type { AnsweredProbe, SessionPorts, SessionSummary } from "../session.ts";
import { findOpeningRefusal, listDomainRefusals, listHostReplies } from "../session-replies.ts";
import { findSlotKey, type SlotKey } from "../slots/slots.ts";

export const toCircuitSubject = (
  { providerKey }: Pick<SlotKey, "providerKey">,
  { domain, requester: { account }, refusedExits }: PendingProbe,
): CircuitSubject => ({ providerKey, domain, account, refusedExits });

type BatchPorts = Pick<SessionPorts, "breaker" | "connect">;

/** The ways out that one session may take, and what it learns about them. */
export type SessionExits = {
  readonly connect: SmtpConnect;
  /** Returns the recipients that another exit may reach as remaining. */
  readonly record: <Summary extends SessionSummary>(summary: Summary) => Promise<Summary>;
  /** There was no session. */
  readonly release: () => Promise<void>;
};

/** Asks the circuit breaker of each provider that the session reaches. */
export const openSessionExits = async (
  { breaker, connect: connectOut }: BatchPorts,
  own: SlotKey,
  batch: readonly PendingProbe[],
): Promise<SessionExits | "refused" | "wait"> => {
  const [first] = batch;
  if (!first) return "refused";
  const { hosts } = first;
  const ownAdmission = await breaker.admit(toCircuitSubject(own, first));
  if (ownAdmission.kind !== "admitted") return ownAdmission.kind;
  const admissions = new Map<string, SessionAdmission>([[own.providerKey, ownAdmission]]);
  const exitByHost = new Map<string, string>();
  const getProviderKey = (host: string): string => findSlotKey(hosts, host).providerKey;

  const connect: SmtpConnect = async (target, options) => {
    const providerKey = getProviderKey(target.host);
    const admission =
      admissions.get(providerKey) ??
      (await breaker.admit(toCircuitSubject({ providerKey }, first)));
    if (admission.kind !== "admitted") return "deadline";
    admissions.set(providerKey, admission);
    const mayUse = (exit: string) => admission.exits.includes(exit);
    const wire = await connectOut(target, { ...options, mayUse });
    if (typeof wire !== "string") exitByHost.set(target.host, wire.exit ?? DIRECT_EXIT);
    return wire;
  };

  const recordReplies = async (summary: SessionSummary): Promise<void> => {
    const replies = listHostReplies(summary);
    await Promise.all(
      [...admissions].map(([providerKey, admission]) => {
        const isOwn = ({ host }: { readonly host: string }) => getProviderKey(host) === providerKey;
        const usedExits = [...exitByHost].flatMap(([host, exit]) => (isOwn({ host }) ? exit : []));
        const observed = replies
          .filter(isOwn)
          .map(({ host, ...reply }) => ({ ...reply, exit: exitByHost.get(host) ?? DIRECT_EXIT }));
        return breaker.record(providerKey, admission, dropRepeated(observed), new Set(usedExits));
      }),
    );
    for (const { one, refusal } of listDomainRefusals(summary))
      breaker.deferDomain(
        toCircuitSubject({ providerKey: getProviderKey(refusal.host) }, one),
        refusal,
      );
  };

  const record: SessionExits["record"] = async (summary) => {
    await recordReplies(summary);
    const refusedHosts = new Set(
      summary.attempts.filter(findOpeningRefusal).map(({ host }) => host),
    );
    const mayGoOn = ({ one, probeResult: { host }, wasTried }: AnsweredProbe): boolean => {
      const exit = exitByHost.get(host);
      if (wasTried || exit === undefined || !refusedHosts.has(host)) return false;
      const refusedExits = [...one.refusedExits, exit];
      const isAnotherLeft =
        breaker.listExits({ ...toCircuitSubject(own, one), refusedExits }).length > 0;
      if (isAnotherLeft) one.refusedExits = refusedExits;
      return isAnotherLeft;
    };
    const going = new Set(summary.answered.filter(mayGoOn));
    const exit = exitByHost.get(summary.host);
    // The circuit took over: a backoff would keep the other exits waiting for nothing.
    const isOpened =
      exit !== undefined &&
      !breaker.listExits({ ...toCircuitSubject(own, first), refusedExits: [] }).includes(exit);
    return {
      ...summary,
      refusal: isOpened ? null : summary.refusal,
      answered: summary.answered.filter((one) => !going.has(one)),
      remaining: [...[...going].map(({ one }) => one), ...summary.remaining],
    };
  };

  const release = () => recordReplies({ ...NO_SESSION, remaining: batch });
  return { connect, record, release };
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
    ({ exit, about, refusal }, at) =>
      about !== null ||
      refusal === null ||
      !replies
        .slice(0, at)
        .some((earlier) => earlier.exit === exit && earlier.about === null && earlier.refusal),
  );
