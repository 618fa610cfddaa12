import type { Address, AddressText } from "@mailproof/mail/address";
import * as v from "valibot";
import { hashAddress } from "../accounts/hashes.ts";
import { getRetentionSeconds } from "../accounts/retention.ts";
import { createAccountHistory } from "../calibration/account-history.ts";
import { findReplayedJob } from "../jobs/find-replayed-job.ts";
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
import type { ReceiptOrigin } from "../receipts/sign-receipt.ts";
import { MAX_LEASE_MS } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import { NoCapacityError } from "../smtp-pool/slots/no-capacity-error.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import { type PackedVerification, pack, unpack } from "../verify/pack.ts";
import { findProviderDoubts } from "../verify/provider-beliefs.ts";
import { trimResult, type Verification } from "../verify/result.ts";
import { createCacheWrites, findCachedResult } from "../verify/result-cache.ts";
import { selectEngine } from "../verify/sandbox.ts";
import { createVerdictWrites } from "../verify/store-verdict.ts";
import { findFreeReason, isOurFailure } from "../verify/unpaid-results.ts";
import { countVerdicts } from "../verify/verdict-counts.ts";
import { type VerifyOptions, verifyAddress } from "../verify/verify.ts";
import { createReceipt } from "./create-receipt.ts";
import { createSingleJob, sendRetry, sendSingle } from "./single-job.ts";
import { findSingleRetry, type SingleRetry } from "./single-retry.ts";

export type VerifyRequest = {
  readonly email: AddressText;
  readonly options: VerifyOptions;
  readonly waitMs: number;
  /** The response has a receipt, which names this. Absent: it has none. */
  readonly receipt?: ReceiptOrigin | undefined;
};

/** What the caller gets for the price. `pending`: the job that continues the verification. */
export type VerifyResult = {
  readonly price: Halves;
  readonly cached: boolean;
  readonly replayed: boolean;
} & (
  | { readonly kind: "verified"; readonly result: Verification; readonly receipt?: string }
  | { readonly kind: "pending"; readonly pending: PendingJob }
);

type PendingJob = { readonly job: string; readonly createdAt: string };

/** Verifies one address and charges once, whatever crashes: holds before, settles after, releases if we failed. */
export const verifyOnce = async (
  world: VerifyWorld,
  payer: Payer,
  request: VerifyRequest,
  idempotencyKey: IdempotencyKey | null,
): Promise<VerifyResult> => {
  const order = {
    id: world.newId("job"),
    kind: VERIFY,
    payer,
    reason: "verify" as const,
    idempotencyKey,
    leaseMs: request.waitMs + MARGIN_MS,
  };
  const cachedResult = await findCached(world, order, request);
  if (cachedResult) return returnCached(world, order, request, cachedResult);
  const { email, options } = request;
  const retentionSeconds = getRetentionSeconds(payer);
  const input: VerifyInput = { email: email.text, ...options, retentionSeconds };
  const outcome = await beginOperation(world, order, async () => ({
    price: PRICES.verify,
    input,
    expectedMs: request.waitMs,
  }));
  return resume(world, outcome, request);
};

/** A crash may have left an earlier request under this key half done: then this one finishes it. */
const resume = async (
  world: VerifyWorld,
  outcome: BeginResult,
  request: VerifyRequest,
): Promise<VerifyResult> => {
  if (outcome.kind === "in_progress") throw createInProgressFailure(outcome.retryAfterMs);
  return outcome.kind === "replayed"
    ? replay(world, outcome.answer)
    : runVerification(world, outcome.operation, request);
};

/** After the wait, the remaining work takes no longer than this; then the reconciler may take over. */
export const MARGIN_MS = 15_000;

export const VERIFY = "verify";

const VerifyInput = v.object({
  email: v.string(),
  deepVerify: v.boolean(),
  includeAi: v.boolean(),
  includeEvidence: v.boolean(),
  retentionSeconds: v.number(),
});
export type VerifyInput = v.InferOutput<typeof VerifyInput>;

/** A test key's results never change and come from no mail server, so they are not cached. */
const findCached = async (
  world: VerifyWorld,
  { payer, idempotencyKey }: OperationRequest,
  { email, options: { deepVerify } }: VerifyRequest,
): Promise<Verification | undefined> => {
  if (payer.mode !== "live") return undefined;
  const query = { email, deepVerify };
  const result = await findCachedResult(world, getOwnerId(payer), query).catch((cause: unknown) => {
    const what = "Cached results cannot be read right now.";
    // An earlier request with this key may have been charged.
    const money = idempotencyKey ? "retry_same_key" : "nothing_charged";
    throw new Failure("UNAVAILABLE", money, what, { cause });
  });
  if (!result) return undefined;
  const isOutdated = await Promise.all([
    hasBouncedSince(world, payer, email.address, result),
    isDoubtedSince(world, result),
  ]);
  return isOutdated.some(Boolean) ? undefined : result;
};

/** No random recipient was asked about, as the provider was believed to refuse them, and it no longer is. */
const isDoubtedSince = async (
  { engine: { beliefs } }: VerifyWorld,
  { status, evidence }: Verification,
): Promise<boolean> =>
  status === "valid" &&
  evidence?.catchAll === "not_tested" &&
  (await findProviderDoubts(beliefs, evidence.mailHost)).acceptsUnknown;

/** The account's mail has bounced since the result was made, so the result is no longer true. */
const hasBouncedSince = async (
  world: World,
  { account }: Pick<Payer, "account">,
  address: Address | null,
  { evidence }: Verification,
): Promise<boolean> => {
  if (!address) return false;
  const bouncedAt = await createAccountHistory(world, account).findBounce(address);
  return bouncedAt !== (evidence?.bouncedAt ?? null);
};

const returnCached = async (
  world: VerifyWorld,
  order: OperationRequest,
  request: VerifyRequest,
  cachedResult: Verification,
): Promise<VerifyResult> => {
  const price = PRICES.verifyCached;
  const result = trimResult(cachedResult, request.options);
  const receipt = createReceipt(world, order.payer, request, {
    id: order.id,
    result: cachedResult,
    cached: true,
    price,
    paidBy: ["debit", "charge"],
  });
  const answer: StoredAnswer = { price, cached: true, result: pack(result), ...receipt };
  const subject = hashAddress(world, getOwnerId(order.payer), request.email.canonical);
  const openedAt = world.now().toISOString();
  const outcome = await payImmediately(world, order, async () => ({
    price,
    answer,
    subject,
    writes: (shard) => countVerdicts({ ...order.payer, shard }, openedAt, [result]),
  }));
  if (outcome.kind !== "paid") return resume(world, outcome, request);
  return { kind: "verified", price, cached: true, replayed: false, result, ...receipt };
};

const runVerification = async (
  world: VerifyWorld,
  operation: Operation,
  request: VerifyRequest,
): Promise<VerifyResult> => {
  const { email, options } = request;
  const { mode } = operation;
  const everything = {
    deepVerify: options.deepVerify,
    includeAi: true,
    includeEvidence: true,
    requester: { account: operation.account, priority: "caller" },
    waitMs: request.waitMs,
    ...(mode === "live" && { history: createAccountHistory(world, operation.account) }),
  } as const;
  const verification = verifyAddress(selectEngine(world, mode), email, everything);
  const outcome = await withTimeout(world, request.waitMs, verification, world.stopping).catch(
    (cause: unknown) =>
      // A worker has its own way to mail servers, and more time.
      cause instanceof NoCapacityError ? ("late" as const) : refund(world, operation, cause),
  );
  if (outcome === "late") return switchToJob(world, operation);
  if (isOurFailure(outcome)) return refund(world, operation, new Error("the session broke"));
  const retry = findSingleRetry(world, mode, outcome);
  if (retry) return switchToJob(world, operation, retry);

  const result = trimResult(outcome, options);
  const free = findFreeReason(outcome);
  const price = free ? (0 as Halves) : operation.amount;
  const receipt = createReceipt(world, operation, request, {
    id: operation.id,
    result: outcome,
    cached: false,
    price,
    paidBy: ["end", free ? "release" : "settle"],
  });
  const answer: StoredAnswer = { price, cached: false, result: pack(result), ...receipt };
  const counts = countVerdicts(operation, operation.openedAt, [outcome]);
  const also =
    mode === "live"
      ? [
          ...createCacheWrites(world, operation.account, { email, ...options }, outcome),
          ...createVerdictWrites(world, operation.account, email.address, outcome),
          ...counts,
        ]
      : counts;
  const subject = hashAddress(world, getOwnerId(operation), email.canonical);
  const ended = await settle(world, operation, {
    answer,
    subject,
    releasedAs: free ?? undefined,
    also,
  });
  const verified = { kind: "verified", price, cached: false, replayed: false, result } as const;
  if (ended === "ended") return { ...verified, ...receipt };
  // Without a key the client cannot retry. The price is held; the reconciler settles or releases it, once. No receipt
  // can say which.
  if (ended === "unknown" && !operation.claim) return verified;
  throw createUnknownFailure(operation);
};

const refund = async (world: World, operation: Operation, cause: unknown): Promise<never> => {
  const released = (await release(world, operation)) === "ended";
  const what = "The verification failed on our side.";
  if (released && operation.mode === "test")
    throw new Failure("INTERNAL", "nothing_charged", what, { cause });
  if (released) throw new Failure("INTERNAL", "refunded", what, { cause });
  throw new Failure("INTERNAL", operation.claim ? "retry_same_key" : "unknown", what, { cause });
};

const createUnknownFailure = ({ claim }: Operation): Failure =>
  claim
    ? new Failure("UNAVAILABLE", "retry_same_key", "The outcome of this request is not known.")
    : new Failure("INTERNAL", "unknown", "The outcome of this request is not known.");

export const switchToJob = async (
  world: World,
  operation: Operation,
  retry?: SingleRetry,
): Promise<VerifyResult> => {
  if ((await continueAsJob(world, operation, retry)) !== "ended")
    throw createUnknownFailure(operation);
  const pending = { job: operation.id, createdAt: operation.openedAt };
  return { kind: "pending", price: operation.amount, cached: false, replayed: false, pending };
};

/**
 * The credits stay held and a worker continues: when the wait is over, when a later attempt may find out more, or when
 * the process that began the work is gone.
 */
const continueAsJob = async (world: World, operation: Operation, retry?: SingleRetry) => {
  const { retentionSeconds, ...single } = v.parse(VerifyInput, operation.input);
  const { id, openedAt, amount } = operation;
  const answer: StoredAnswer = {
    price: amount,
    cached: false,
    pending: { job: id, createdAt: openedAt },
  };
  const ended = await handOverToJob(
    world,
    operation,
    createSingleJob(world, operation, single, { retentionSeconds, retry }),
    answer,
  );
  if (ended !== "ended") return ended;
  if (retry) await sendRetry(world, operation, retry, 1);
  else await sendSingle(world, operation, 0);
  return ended;
};

/** What a claim stores, and a repeated request gets as its response. Stored without a kind. */
type StoredAnswer = {
  readonly price: Halves;
  readonly cached: boolean;
} & ( // `receipt`: absent in 0.2.0, and where the request asked for none.
  | { readonly result: PackedVerification; readonly receipt?: string }
  | { readonly pending: PendingJob }
);

export const replay = async (world: World, answer: Json): Promise<VerifyResult> => {
  if (isErasedAnswer(answer)) throw createErasedFailure();
  const stored = answer as StoredAnswer;
  if ("result" in stored)
    return { ...stored, kind: "verified", replayed: true, result: unpack(stored.result) };
  await findReplayedJob(world, stored.pending.job);
  return { ...stored, kind: "pending", replayed: true };
};

const createErasedFailure = (): Failure =>
  new Failure(
    "RESULT_DELETED",
    "nothing_more",
    "The result of this Idempotency-Key was erased. To verify the address again, use a new key.",
  );

export const verifyWork: WorkKind = {
  kind: VERIFY,
  repair: async (world, item) => {
    const result = await continueAsJob(world, readOperation(item));
    return result === "ended" ? "went_on_as_job" : "left_to_others";
  },
  longestWaitMs: MAX_LEASE_MS,
};
