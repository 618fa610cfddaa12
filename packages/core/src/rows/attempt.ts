import { WITNESS_REFUSED } from "@mailproof/mail/smtp/reply-rules/witness";
import { createAccountHistory } from "../calibration/account-history.ts";
import type { InputRow } from "../intake/input-blob.ts";
import { addMs } from "../lib/time.ts";
import type { Payer } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import type { Priority, Ticket } from "../smtp-pool/fairness.ts";
import { WAITING_FOR_PROVIDER } from "../smtp-pool/results.ts";
import type { SlotReturn } from "../smtp-pool/slots/slots.ts";
import { isTakenBack } from "../smtp-pool/witnesses.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import type { Verification } from "../verify/result.ts";
import { getNextRetryMinutes, MAX_WAIT_MINUTES, type RetryCause } from "../verify/retry.ts";
import { selectEngine } from "../verify/sandbox.ts";
import { isOurFailure } from "../verify/unpaid-results.ts";
import { createUnprobedResult, type VerifyOptions, verify } from "../verify/verify.ts";
import type { Job } from "./items.ts";
import { replaceOwnRows } from "./replace-rows.ts";
import { ERASED, unpackRow } from "./results.ts";

// One attempt at a row, by a request or by a pass. `beginAttempt` builds its options; `concludeAttempt` turns its outcome into
// a result, or into the time and the cause of the next attempt.

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

/** A row to attempt now. */
export type DueRow = Waited & {
  readonly row: InputRow;
  /** An earlier pass started its verification. */
  readonly isSlow?: boolean | undefined;
};

type Asked = Pick<VerifyOptions, "deepVerify" | "waitMs"> & {
  readonly priority: Priority;
  readonly includeAi?: boolean;
};

/** Every attempt collects all findings; the response selects the shown parts later. */
export const beginAttempt = (
  world: VerifyWorld,
  payer: Pick<Payer, "account" | "mode" | "bounceFree"> & { readonly id: string },
  { row, causes, ticket, exit }: DueRow,
  { priority, ...asked }: Asked,
): Promise<Verification> =>
  verify(selectEngine(world, payer.mode, causes.length), row[1], {
    includeAi: true,
    includeEvidence: true,
    ...asked,
    requester: { account: payer.account, priority, job: payer.id },
    history: payer.mode === "live" ? createAccountHistory(world, payer) : undefined,
    ticket,
    exit,
    isPatient: causes.includes("silence"),
  });

/**
 * `slow`: the verification outlasted its pass. `timeout`: the pass ended before it. `internal`: it failed on our side.
 * `given_up`: the passes over its chunk failed on our side too often.
 */
type Outcome = Verification | "slow" | "timeout" | "internal" | "given_up";

/** A row with the outcome of its attempt. */
export type AttemptedRow = DueRow & { readonly outcome: Outcome };

/** A refusal that a witness has disproved is about us, so another exit may succeed. */
export const takeBack = async (world: VerifyWorld, one: AttemptedRow): Promise<AttemptedRow> => {
  const { outcome } = one;
  if (typeof outcome === "string") return one;
  const result = await findTakenBack(world, outcome, outcome.unproven);
  return result ? { ...one, outcome: { ...result, retryCause: "connection" } } : one;
};

const findTakenBack = async (
  { table, engine }: VerifyWorld,
  { email, verifiedAt }: Verification,
  unproven: string | undefined,
): Promise<Verification | undefined> =>
  (await isTakenBack(table, { unproven, verifiedAt }))
    ? createUnprobedResult(engine, email, WITNESS_REFUSED)
    : undefined;

/**
 * Takes back the stored refusals of an open list that a witness has disproved since: these rows become `unknown`, and their
 * credits return when the job ends. A row that was taken back before is no longer `invalid`, so its credits return once.
 */
export const takeBackStored = (world: VerifyWorld, job: Job): Promise<void> =>
  replaceOwnRows(world, job, async ({ unproven = [] }, former) => {
    const keys = new Map(unproven.flatMap(([key, rows]) => rows.map((row) => [row, key] as const)));
    const found = [...former.values()].map(async (packed) => {
      const before = unpackRow(packed);
      const key = keys.get(before.row);
      const { email, status } = before.result;
      if (key === undefined || status !== "invalid" || email === ERASED) return [];
      const result = await findTakenBack(world, before.result, key);
      return result ? [{ before, after: { row: before.row, result } }] : [];
    });
    return (await Promise.all(found)).flat();
  });

/** True for a row whose mail server refused a witness, too. */
export const isDisproved = ({ outcome }: AttemptedRow): boolean =>
  typeof outcome !== "string" && outcome.reason === WITNESS_REFUSED;

/** When a row is attempted again, and why. */
export type Deferral = Waited & {
  /** The reason of the row if it ended as `unknown` now. */
  readonly reason: string;
  readonly at: string;
  /** The row is not deferred: its verification continues, and the next pass waits for it at once. */
  readonly isSlow?: boolean | undefined;
};

/** The fields of a job that decide whether a row may wait. */
type Limits = Pick<Job, "kind" | "mode" | "unsettled" | "options">;

export const concludeAttempt = (
  world: VerifyWorld,
  limits: Limits,
  attempted: AttemptedRow,
): { readonly result: Verification } | { readonly later: Deferral } => {
  const deferral = findDeferral(world, limits, attempted);
  // A slow row is judged after its verification has ended, and not in each earlier pass.
  if (deferral) return { later: deferral };
  const result = toResult(world, limits, attempted);
  const later = deferUntilSettled(world, limits, attempted, result);
  return later ? { later } : { result };
};

const findDeferral = (
  { now }: World,
  { mode, options }: Limits,
  { causes, exit, outcome }: AttemptedRow,
): Deferral | undefined => {
  const { comeBack, cause, reason, throttleMinutes, greylistedExit } = toAttempted(outcome);
  const maxWaitMinutes = options?.maxWaitMinutes ?? MAX_WAIT_MINUTES.default;
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
  if (outcome === "given_up") return { reason: "internal" };
  if (outcome === "internal") return { reason: outcome, cause: outcome };
  // The pass ended before a session asked the row's mail server.
  return { reason: "timeout", cause: "unreached" };
};

/** A wait for a slot has no limit; a row waits for a backoff to end only if the row may wait at all. */
const mayComeBack = ({ reason }: SlotReturn, maxWaitMinutes: number): boolean =>
  reason === undefined || maxWaitMinutes > 0;

const toResult = (
  world: VerifyWorld,
  { mode }: Limits,
  { row, outcome }: AttemptedRow,
): Verification =>
  typeof outcome === "string"
    ? createUnprobedResult(selectEngine(world, mode), row[1], toAttempted(outcome).reason)
    : outcome;

const SETTLEMENT_RETRY_MS = 60_000;

/**
 * A row of a file that failed on our side is refunded with its result. Before the file's price is settled there is
 * nothing to refund: the row is deferred until the reconciler has settled it.
 */
const deferUntilSettled = (
  { now }: World,
  { kind, mode, unsettled }: Limits,
  { causes }: AttemptedRow,
  result: Verification,
): Deferral | undefined => {
  if (kind !== "file" || mode !== "live" || unsettled === 0 || !isOurFailure(result))
    return undefined;
  const at = addMs(now(), SETTLEMENT_RETRY_MS).toISOString();
  return { reason: result.reason, causes, at };
};
