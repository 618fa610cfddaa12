import type { AddressText } from "@mailproof/mail/address";
import * as v from "valibot";
import { hashAddress } from "../accounts/hashes.ts";
import { getRetentionSeconds } from "../accounts/retention.ts";
import {
  type ControlAnswer,
  type ControlProof,
  type ControlResult,
  checkControl,
} from "../control/check-control.ts";
import type { WithIssuers } from "../control/issuers.ts";
import { Failure } from "../lib/failure.ts";
import { withTimeout } from "../lib/timeout.ts";
import {
  type BeginResult,
  beginOperation,
  type OperationRequest,
  payImmediately,
} from "../money/begin-operation.ts";
import type { Halves } from "../money/credits.ts";
import { handOverToJob, release, settle } from "../money/end-operation.ts";
import { type IdempotencyKey, isErasedAnswer } from "../money/idempotency-claims.ts";
import { createInProgressFailure } from "../money/in-progress.ts";
import { type Operation, readOperation } from "../money/operation-items.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import { PRICES } from "../money/prices.ts";
import type { Json } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { createReceipt } from "../receipts/create-receipt.ts";
import type { ReceiptOrigin } from "../receipts/receipt-claims.ts";
import { beginAttempt, concludeAttempt, type Deferral, FIRST_ATTEMPT } from "../rows/attempt.ts";
import { findReplayedJob, SINGLE } from "../rows/items.ts";
import { MAX_LEASE_MS } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import { NoCapacityError, type VerifyWorld } from "../verify/engine.ts";
import { type PackedVerification, pack, unpack } from "../verify/pack.ts";
import { trimResult, type Verification } from "../verify/result.ts";
import { createAnswerWrites } from "../verify/result-cache.ts";
import { selectEngine } from "../verify/sandbox.ts";
import { findFreeReason, isOurFailure } from "../verify/unpaid-results.ts";
import { countVerdicts } from "../verify/verdict-counts.ts";
import { createControlledResult, type VerifyOptions } from "../verify/verify.ts";
import { findCached } from "./cached-result.ts";
import { countVisit, type FormVisit } from "./form-counts.ts";
import { buildPendingJob, sendPending, toPendingJob, VerifyInput } from "./pending-job.ts";

export type VerifyRequest = {
  readonly email: AddressText;
  readonly options: VerifyOptions;
  readonly waitMs: number;
  /** Facts for the receipt. Absent when the response contains no receipt. */
  readonly receipt?: ReceiptOrigin | undefined;
  readonly proof?: ControlProof | undefined;
  /** Absent when the address does not come from a form. */
  readonly form?: FormVisit;
};

/** The work after the wait takes less than 15 s; then the reconciler may take over. */
const MARGIN_MS = 15_000;

const VERIFY = "verify";

/** `waitMs`: the time that the request itself works on the verification before a job continues. */
export const createOrder = (
  world: World,
  payer: Payer,
  {
    idempotencyKey,
    waitMs,
  }: Pick<OperationRequest, "idempotencyKey"> & { readonly waitMs: number },
): OperationRequest => ({
  id: world.newId("job"),
  kind: VERIFY,
  payer,
  reason: "verify",
  idempotencyKey,
  leaseMs: waitMs + MARGIN_MS,
});

export const holdPrice = (
  world: World,
  order: OperationRequest,
  { email, options, receipt, form, waitMs }: VerifyRequest,
  control: ControlResult | undefined,
): Promise<BeginResult> => {
  const retentionSeconds = getRetentionSeconds(order.payer);
  const known = { receipt, ...(form && { form }), ...(control && { control: control.status }) };
  const input: VerifyInput = { email: email.text, ...options, retentionSeconds, ...known };
  return beginOperation(world, order, async () => ({
    price: PRICES.verify,
    input,
    expectedMs: waitMs,
  }));
};

/** The result that the caller paid for. `pending`: the job that continues the verification. */
export type VerifyResult = {
  readonly price: Halves;
  readonly cached: boolean;
  readonly replayed: boolean;
  readonly control?: ControlAnswer;
} & (
  | { readonly kind: "verified"; readonly result: Verification }
  | { readonly kind: "pending"; readonly pending: PendingJob }
);

type PendingJob = { readonly job: string; readonly createdAt: string };

/**
 * Verifies one address and charges once, whatever crashes: holds before, settles after, releases if we failed. Checks control
 * of the address first, free of charge; proven control is the result.
 */
export const verifyOnce = async (
  world: VerifyWorld & WithIssuers,
  payer: Payer,
  asked: VerifyRequest,
  idempotencyKey: IdempotencyKey | null,
): Promise<VerifyResult> => {
  const startedAtMs = world.now().getTime();
  const control = await findControl(world, payer, asked);
  const spentMs = world.now().getTime() - startedAtMs;
  const request = { ...asked, waitMs: Math.max(0, asked.waitMs - spentMs) };
  const order = createOrder(world, payer, { idempotencyKey, waitMs: request.waitMs });
  const found =
    findProven(world, order, request, control) ?? (await findPaidBefore(world, order, request));
  const run: GoOn = (operation) => runVerification(world, operation, request);
  if (found) return payForFound(world, order, request, found, control, run);
  return resume(world, await holdPrice(world, order, request, control), run);
};

export const findControl = async (
  world: VerifyWorld & WithIssuers,
  { mode }: Payer,
  { email: { address }, proof, waitMs }: VerifyRequest,
): Promise<ControlResult | undefined> =>
  proof && checkControl(world, { ...proof, address, mode, waitMs });

/** A result without a mail server: control is proven, or the cache contains the address. */
export type FoundResult = Pick<VerifyResult, "price" | "cached"> & { readonly whole: Verification };

export const findProven = (
  world: VerifyWorld,
  { payer: { mode } }: OperationRequest,
  { email }: Pick<VerifyRequest, "email">,
  control: ControlResult | undefined,
): FoundResult | undefined => {
  if (control?.status !== "controlled") return undefined;
  const whole = createControlledResult(selectEngine(world, mode), email);
  return { price: PRICES.verifyControlled, cached: false, whole };
};

const findPaidBefore = async (
  world: VerifyWorld,
  order: OperationRequest,
  request: VerifyRequest,
): Promise<FoundResult | undefined> => {
  const whole = await findCached(world, order, request);
  return whole && { price: PRICES.verifyCached, cached: true, whole };
};

type GoOn = (operation: Operation) => Promise<VerifyResult>;

/** An earlier request under this key may have crashed; then this request finishes it. */
export const resume = async (
  world: World,
  outcome: BeginResult,
  goOn: GoOn,
): Promise<VerifyResult> => {
  if (outcome.kind === "in_progress") throw createInProgressFailure(outcome.retryAfterMs);
  return outcome.kind === "replayed" ? replay(world, outcome.answer) : goOn(outcome.operation);
};

export const payForFound = async (
  world: VerifyWorld,
  order: OperationRequest,
  request: VerifyRequest,
  { price, cached, whole }: FoundResult,
  control: ControlAnswer | undefined,
  goOn: GoOn,
): Promise<VerifyResult> => {
  const receipt = createReceipt(world, order.payer, request, {
    id: order.id,
    result: whole,
    cached,
    price,
    paidBy: ["debit", "charge"],
  });
  const result = { ...trimResult(whole, request.options), ...receipt };
  const also = { price, cached, ...(control && { control }) };
  const toClaimed = (): { readonly answer: StoredAnswer; readonly subject: string } => ({
    answer: { ...also, result: pack(result) },
    subject: hashAddress(world, getOwnerId(order.payer), request.email.canonical),
  });
  const openedAt = world.now().toISOString();
  const outcome = await payImmediately(world, order, async () => ({
    price,
    ...(order.idempotencyKey ? toClaimed() : { answer: null }),
    writes: (shard) => [
      ...countVerdicts({ ...order.payer, shard }, openedAt, [result]),
      ...countVisit({ ...order.payer, shard }, openedAt, request.form),
    ],
  }));
  if (outcome.kind !== "paid") return resume(world, outcome, goOn);
  return { kind: "verified", ...also, replayed: false, result };
};

const runVerification = async (
  world: VerifyWorld,
  operation: Operation,
  request: VerifyRequest,
): Promise<VerifyResult> => {
  const { email, options, waitMs } = request;
  const { mode } = operation;
  const { deepVerify } = options;
  const row = { ...FIRST_ATTEMPT, row: [1, email.text] as const };
  const asked = { priority: "caller", deepVerify, waitMs } as const;
  const verification = beginAttempt(world, operation, row, asked);
  const outcome = await withTimeout(world, waitMs, verification, world.stopping).catch(
    (cause: unknown) =>
      // A worker has its own way to mail servers, and more time.
      cause instanceof NoCapacityError ? ("late" as const) : refund(world, operation, cause),
  );
  if (outcome === "late") return switchToJob(world, operation);
  if (isOurFailure(outcome)) return refund(world, operation);
  const end = concludeAttempt(world, { kind: SINGLE, mode, unsettled: 0 }, { ...row, outcome });
  if ("later" in end) return switchToJob(world, operation, end.later);

  const free = findFreeReason(outcome);
  const price = free ? (0 as Halves) : operation.amount;
  const also = { price, cached: false, ...toControl(operation) };
  const receipt = createReceipt(world, operation, request, {
    id: operation.id,
    result: outcome,
    cached: false,
    price,
    paidBy: ["end", free ? "release" : "settle"],
  });
  const bare = trimResult(outcome, options);
  const result = { ...bare, ...receipt };
  const answer: StoredAnswer = { ...also, result: pack(result) };
  const writes = [
    ...createAnswerWrites(world, operation, { email, deepVerify }, outcome),
    ...countVerdicts(operation, operation.openedAt, [outcome]),
  ];
  const subject = hashAddress(world, getOwnerId(operation), email.canonical);
  const ended = await settle(world, operation, {
    answer,
    subject,
    releasedAs: free ?? undefined,
    also: writes,
  });
  const verified = { kind: "verified", ...also, replayed: false } as const;
  if (ended === "ended") return { ...verified, result };
  // Without a key the client cannot retry. The price is held, and the reconciler settles or releases it once. The response has
  // no receipt, because the outcome is unknown.
  if (ended === "unknown" && !operation.claim) return { ...verified, result: bare };
  throw createUnknownFailure(operation);
};

/** Without a cause our network failed and not our code, so the caller may try again. */
const refund = async (world: World, operation: Operation, cause?: unknown): Promise<never> => {
  const released = (await release(world, operation)) === "ended";
  const what = "The verification failed on our side.";
  const code = cause === undefined ? "UNAVAILABLE" : "INTERNAL";
  if (!released)
    throw new Failure(code, operation.claim ? "retry_same_key" : "unknown", what, { cause });
  const money = operation.mode === "test" ? "nothing_charged" : "refunded";
  throw new Failure(code, money, what, { cause });
};

const createUnknownFailure = ({ claim }: Operation): Failure =>
  claim
    ? new Failure("UNAVAILABLE", "retry_same_key", "The outcome of this request is not known.")
    : new Failure("INTERNAL", "unknown", "The outcome of this request is not known.");

export const switchToJob = async (
  world: World,
  operation: Operation,
  deferral?: Deferral,
): Promise<VerifyResult> => {
  if ((await continueAsJob(world, operation, deferral)) !== "ended")
    throw createUnknownFailure(operation);
  const pending = { job: operation.id, createdAt: operation.openedAt };
  const also = { price: operation.amount, cached: false, ...toControl(operation) };
  return { kind: "pending", ...also, replayed: false, pending };
};

/**
 * The credits stay held and a worker continues: after the wait, when a later attempt may find out more, or when the first
 * process crashed.
 */
const continueAsJob = async (world: World, operation: Operation, deferral?: Deferral) => {
  const { retentionSeconds, control: _, form, ...single } = v.parse(VerifyInput, operation.input);
  const { id, openedAt, amount } = operation;
  const answer: StoredAnswer = {
    price: amount,
    cached: false,
    ...toControl(operation),
    pending: { job: id, createdAt: openedAt },
  };
  const job = toPendingJob(operation, single, retentionSeconds);
  const [item, ...others] = buildPendingJob(world, job, operation.token, deferral);
  const writes = [item, ...others, ...countVisit(operation, openedAt, form)] as const;
  const ended = await handOverToJob(world, operation, writes, answer);
  if (ended === "ended") await sendPending(world, job, deferral);
  return ended;
};

/** Reads the control result of the request that began the operation, in whichever process. */
const toControl = ({ input }: Operation): Pick<VerifyResult, "control"> => {
  const { control } = v.parse(VerifyInput, input);
  return control === undefined ? {} : { control: { status: control } };
};

type StoredAnswer = {
  readonly price: Halves;
  readonly cached: boolean;
  /** 0.2.0 lacks this field. */
  readonly control?: ControlAnswer;
} & ({ readonly result: PackedVerification } | { readonly pending: PendingJob });

const replay = async (world: World, answer: Json): Promise<VerifyResult> => {
  if (isErasedAnswer(answer)) {
    const what =
      "The result of this Idempotency-Key was erased. To verify the address again, use a new key.";
    throw new Failure("RESULT_DELETED", "nothing_more", what);
  }
  const stored = answer as StoredAnswer;
  if ("result" in stored)
    return { ...stored, kind: "verified", replayed: true, result: unpack(stored.result) };
  await findReplayedJob(world.table, stored.pending.job);
  return { ...stored, kind: "pending", replayed: true };
};

export const verifyWork: WorkKind = {
  kind: VERIFY,
  repair: async (world, item) => {
    const result = await continueAsJob(world, readOperation(item));
    return result === "ended" ? "went_on_as_job" : "left_to_others";
  },
  longestWaitMs: MAX_LEASE_MS,
};
