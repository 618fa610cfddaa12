import type { SessionOutcome } from "@mailproof/mail/smtp/connect";
import { toCircuitSubject } from "./exits.ts";
import type { HostQueue } from "./host-queues.ts";
import type { PendingProbe, ProbeResult } from "./probe.ts";
import { findStandingRefusal } from "./providers.ts";
import {
  createDailyLimitResult,
  createRefusedResult,
  createReturn,
  createSlotTimeout,
  toProbeResult,
  toSharedOutcome,
} from "./results.ts";
import type { SessionPorts } from "./session.ts";
import { type Decision, decide } from "./slots/decide.ts";
import type { SlotReturn } from "./slots/slots.ts";

/** The result of all recipients that waited together. `isRefusal`: the outcome is a reply about us. */
export type CommonResult = {
  readonly outcome: SessionOutcome;
  readonly comeBack?: SlotReturn;
  readonly isRefusal?: boolean;
};

export const toComeBack = ({ slotKey }: HostQueue, comeBack: SlotReturn): CommonResult => ({
  outcome: createSlotTimeout(slotKey),
  comeBack,
});

/** After the first two backoffs in a row, recipients return later. After the third, the reply is their result. */
const BACKOFFS_TOLERATED = 2;

/** Builds the results of recipients without a session. */
export const createAnswers = (sessionPorts: SessionPorts) => {
  const { quota, breaker, now } = sessionPorts;

  const decideFor = (
    queue: HostQueue,
    one: PendingProbe,
    { isTurnedAway = false, isExitClosed = false },
  ): Decision => {
    const { requester, domain, hosts } = one;
    const isOverDailyLimit = quota.isReached(requester.account, domain, hosts[0]);
    const refusal = isOverDailyLimit
      ? null
      : breaker.findRefusal(toCircuitSubject(queue.slotKey, one));
    return decide({ recipient: { isOverDailyLimit, refusal, isTurnedAway, isExitClosed } }, null);
  };

  const toAnswer = (
    one: PendingProbe,
    decision: Decision,
    common?: CommonResult,
  ): ProbeResult | null => {
    if (decision.kind !== "answer") return null;
    if (decision.why === "daily_limit") return createDailyLimitResult(one);
    if (decision.why === "backoff") return common ? toCommonResult(one, common) : null;
    const { refusal, isLasting } = decision.refusal;
    const result = toProbeResult(sessionPorts, toSharedOutcome(refusal), one);
    return createRefusedResult(result, isLasting);
  };

  const toCommonResult = (
    one: PendingProbe,
    { outcome, comeBack, isRefusal }: CommonResult,
  ): ProbeResult => {
    const result = toProbeResult(sessionPorts, outcome, one);
    const reason = isRefusal && { reason: result.finding.reason };
    return { ...result, ...(comeBack && { comeBack: { ...comeBack, ...reason } }) };
  };

  /** While the provider refuses this exit, recipients leave the queue and return after the backoff. */
  const findTurnedAway = (queue: HostQueue): CommonResult | undefined => {
    const { provider } = queue;
    const at = now();
    const refusal = findStandingRefusal(provider, at);
    if (!refusal) return undefined;
    const outcome = toSharedOutcome(refusal);
    if (provider.failures > BACKOFFS_TOLERATED) return { outcome };
    const comeBack = createReturn(queue, at, provider.backoffUntilMs - at.getTime());
    return { outcome, comeBack, isRefusal: true };
  };

  return {
    decideFor,
    toAnswer,
    findTurnedAway,
    /** The result of a new recipient without a session; null when it may get a session. */
    findAnswer: (queue: HostQueue, one: PendingProbe): ProbeResult | null => {
      const common = findTurnedAway(queue);
      const decision = decideFor(queue, one, { isTurnedAway: common !== undefined });
      return toAnswer(one, decision, common);
    },
    /** Resolves recipients without a session: each gets the result of a new recipient, or else the common result. */
    resolveAll: (
      queue: HostQueue,
      recipients: readonly PendingProbe[],
      common: CommonResult,
    ): void => {
      for (const one of recipients)
        one.resolve(toAnswer(one, decideFor(queue, one, {})) ?? toCommonResult(one, common));
    },
  };
};
