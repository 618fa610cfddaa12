import { WITNESS_REFUSED } from "@mailproof/mail/smtp/reply-rules/witness";
import { createAccountHistory } from "../calibration/account-history.ts";
import type { InputRow } from "../intake/input-blob.ts";
import { addMs } from "../lib/time.ts";
import type { KeyMode, Payer } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import type { Priority } from "../smtp-pool/fairness.ts";
import { WAITING_FOR_PROVIDER } from "../smtp-pool/results.ts";
import type { SlotReturn, Ticket } from "../smtp-pool/slots/slots.ts";
import { isTakenBack } from "../smtp-pool/witnesses.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import type { Verification } from "../verify/result.ts";
import { getNextRetryMinutes, MAX_WAIT_MINUTES, type RetryCause } from "../verify/retry.ts";
import { createUnprobedResult, type VerifyOptions } from "../verify/verify.ts";

// One attempt at a row, by a request or by a pass: its options, and whether its outcome is final or the row is attempted
// again, when and why.

/** The facts that the earlier attempts at a row pass to the next one. */
export type Waited = {
  /** Why it was deferred so far. */
  readonly causes: readonly RetryCause[];
  /** The row's ticket in the wait queue of its mail provider. */
  readonly ticket?: Ticket | undefined;
  /** The exit from which the mail server greylisted the row. */
  readonly exit?: string | undefined;
};

export const FIRST_ATTEMPT: Waited = { causes: [] };

/** Every attempt collects all findings; the response selects the shown parts later. */
export const toAttemptOptions = (
  world: Pick<World, "table" | "now" | "settings">,
  payer: Pick<Payer, "account" | "mode" | "bounceFree"> & { readonly id: string },
  priority: Priority,
  { causes, ticket, exit }: Waited,
): VerifyOptions => ({
  deepVerify: true,
  includeAi: true,
  includeEvidence: true,
  requester: { account: payer.account, priority, job: payer.id },
  history: payer.mode === "live" ? createAccountHistory(world, payer) : undefined,
  ticket,
  exit,
  isPatient: causes.includes("silence"),
});

/** `slow`: the verification outlasted its pass. `timeout`: the pass ended before it. `internal`: it failed on our side. */
export type Outcome = Verification | "slow" | "timeout" | "internal";

/** When a row is attempted again, and why. */
export type Deferral = Waited & {
  /** The reason of the row if it ended as `unknown` now. */
  readonly reason: string;
  readonly at: string;
  /** The row is not deferred: its verification continues, and the next pass waits for it at once. */
  readonly isSlow?: boolean | undefined;
};

/** A refusal that a witness has disproved is about us, so another exit may succeed. */
export const takeBack = async <Row extends { readonly row: InputRow; readonly outcome: Outcome }>(
  world: VerifyWorld,
  row: Row,
): Promise<Row> => {
  const { outcome } = row;
  if (typeof outcome === "string" || !(await isTakenBack(world.table, outcome))) return row;
  const result = createUnprobedResult(world.engine, row.row[1], WITNESS_REFUSED);
  return { ...row, outcome: { ...result, retryCause: "connection" } };
};

export type RetryLimits = { readonly mode: KeyMode; readonly maxWaitMinutes?: number | undefined };

/** Undefined when the outcome is final. */
export const findDeferral = (
  { now }: Pick<World, "now">,
  { mode, maxWaitMinutes = MAX_WAIT_MINUTES.default }: RetryLimits,
  { causes, exit }: Waited,
  outcome: Outcome,
): Deferral | undefined => {
  const { comeBack, cause, reason, throttleMinutes, greylistedExit } = toAttempted(outcome);
  // Neither outcome counts as an attempt, so this adds no cause.
  if (outcome === "slow") return { reason, causes, at: now().toISOString(), isSlow: true };
  if (comeBack && mayComeBack(comeBack, maxWaitMinutes))
    return { reason: WAITING_FOR_PROVIDER, ...comeBack, causes, exit };
  const minutes = cause && getNextRetryMinutes(causes, cause, { maxWaitMinutes, throttleMinutes });
  if (!cause || minutes === undefined) return undefined;
  const ms = mode === "test" ? TEST_KEY_RETRY_SECONDS * 1_000 : minutes * 60_000;
  const at = addMs(now(), ms).toISOString();
  return { reason, at, causes: [...causes, cause], exit: greylistedExit ?? exit };
};

/** Every wait of a test key takes this long. */
export const TEST_KEY_RETRY_SECONDS = 1;

type Attempted = Pick<Verification, "comeBack" | "throttleMinutes" | "greylistedExit"> & {
  readonly reason: string;
  readonly cause?: RetryCause | undefined;
};

const toAttempted = (outcome: Outcome): Attempted => {
  if (typeof outcome !== "string") return { ...outcome, cause: outcome.retryCause };
  if (outcome === "internal") return { reason: outcome, cause: outcome };
  // The pass ended before a session asked the row's mail server.
  return { reason: "timeout", cause: "unreached" };
};

/** A wait for a slot has no limit; a row waits for a backoff to end only if the row may wait at all. */
const mayComeBack = ({ reason }: SlotReturn, maxWaitMinutes: number): boolean =>
  reason === undefined || maxWaitMinutes > 0;
