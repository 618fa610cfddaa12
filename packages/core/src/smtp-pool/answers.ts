import type { SessionOutcome } from "@mailproof/mail/smtp/connect";
import { toCircuitSubject } from "./exits.ts";
import type { HostQueue } from "./host-queues.ts";
import type { PendingProbe, ProbeResult } from "./probe.ts";
import {
  createRefusedResult,
  createReturn,
  createSlotTimeout,
  createUnaskedResult,
  HOST_DAILY_LIMIT,
  toProbeResult,
  toSharedOutcome,
} from "./results.ts";
import type { SessionPorts } from "./session.ts";
import { decide } from "./slots/decide.ts";
import type { SlotReturn } from "./slots/slots.ts";

// Recipients that get a result without a session of their own.

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

/** While the provider refuses this exit, recipients leave the queue and return after the backoff. */
export const findTurnedAway = (queue: HostQueue, at: Date): CommonResult | undefined => {
  const { isBackingOff, failures, refusal, backoffUntilMs } = queue.provider;
  const leftMs = backoffUntilMs - at.getTime();
  // After the backoff only its timer may be late.
  if (!isBackingOff || failures === 0 || leftMs <= 0 || !refusal) return undefined;
  const outcome = toSharedOutcome(refusal);
  if (failures > BACKOFFS_TOLERATED) return { outcome };
  return { outcome, comeBack: createReturn(queue, at, leftMs), isRefusal: true };
};

/** `common`: the recipient gets no session now. `isExitClosed`: none by the exit of its queue. */
type Obstacles = { readonly common?: CommonResult | undefined; readonly isExitClosed?: boolean };

/** Gives the recipient a result if it may get no session. "leave": another exit may serve it. */
export const answerEarly = (
  ports: SessionPorts,
  queue: HostQueue,
  one: PendingProbe,
  { common, isExitClosed = false }: Obstacles,
): "answered" | "leave" | "stay" => {
  const isOverDailyLimit = ports.quota.isReached(one.requester.account, one.domain, one.hosts[0]);
  const refusal = isOverDailyLimit
    ? null
    : ports.breaker.findRefusal(toCircuitSubject(queue.slotKey, one));
  const isTurnedAway = common !== undefined;
  const recipient = { isOverDailyLimit, refusal, isTurnedAway, isExitClosed };
  const decision = decide({ recipient }, null);
  if (decision.kind !== "answer") return decision.kind === "leave" ? "leave" : "stay";
  if (decision.why === "daily_limit") one.resolve(createUnaskedResult(one, HOST_DAILY_LIMIT));
  else if (decision.why === "circuit") {
    const outcome = toSharedOutcome(decision.refusal.refusal);
    const result = toProbeResult(ports, outcome, one);
    one.resolve(createRefusedResult(result, decision.refusal.isLasting));
  } else if (common) one.resolve(toCommonResult(ports, one, common));
  return "answered";
};

const toCommonResult = (
  ports: SessionPorts,
  one: PendingProbe,
  { outcome, comeBack, isRefusal }: CommonResult,
): ProbeResult => {
  const result = toProbeResult(ports, outcome, one);
  const reason = isRefusal && { reason: result.finding.reason };
  return { ...result, ...(comeBack && { comeBack: { ...comeBack, ...reason } }) };
};
