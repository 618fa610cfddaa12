import { Failure, type LookUpOperation } from "../lib/failure.ts";
import { addMs } from "../lib/time.ts";
import type { Json, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit, type Transaction } from "../runtime/commit.ts";
import {
  acquireLease,
  getRemainingLeaseMs,
  readScheduledWork,
  scheduleWork,
} from "../runtime/leases.ts";
import { findLeft } from "./balance.ts";
import type { Halves } from "./credits.ts";
import { type Debit, debit } from "./debit.ts";
import { createClaim, findClaim, type IdempotencyKey, toClaimKey } from "./idempotency-claims.ts";
import { estimateRemainingMs } from "./in-progress.ts";
import {
  type Operation,
  readOperation,
  toHeldPartition,
  toOperationKey,
} from "./operation-items.ts";
import type { Payer } from "./payer.ts";
import type { PaidOperation } from "./reasons.ts";
import { listCounters, listSpendingLimits } from "./spending.ts";
import { TEST_BALANCE } from "./test-mode.ts";

// Paid work begins here. The price is debited from the account's balance (debit.ts; funding.ts chooses its shards), as
// one entry of the ledger (items.ts) made of movements that keep the invariants (moves.ts). `beginOperation` writes the
// debit, the claim of the Idempotency-Key (idempotency-claims.ts) and an operation (operation-items.ts) in one transaction.
// A later transaction removes the operation: `settle` pays, `release` refunds, `handOverToJob` leaves both to a job
// (end-operation.ts). `payImmediately` charges for an answer that is ready, without an operation. A repeat of the key gets
// the stored answer, waits for the first request (in-progress.ts), or takes over its operation once the lease has expired,
// as the reconciler does after a crash. Each day audit.ts adds everything up again.

export type OperationRequest = {
  readonly id: string;
  readonly kind: string;
  readonly payer: Payer;
  readonly reason: PaidOperation;
  readonly idempotencyKey: IdempotencyKey | null;
  /** Called once, before the debit, if no earlier request did the work. An error that it throws ends the request. */
  readonly admit?: () => Promise<void>;
  readonly leaseMs: number;
  /** The operation that shows whether the request was carried out. Default `listJobs`. */
  readonly lookAt?: LookUpOperation;
  readonly statesRemaining?: true;
};

/** The price, and the writes that commit with the debit to `shard`. Prepared only if no earlier request did the work. */
type PreparedOperation = {
  readonly price: Halves;
  readonly writes?: (shard: number, countedIn: Operation["countedIn"]) => readonly Write[];
};
/** `input` contains all data that another process needs to continue; `expectedMs` is the expected duration of the work. */
export type PreparedWork = PreparedOperation & {
  readonly input: Json;
  readonly expectedMs: number;
};
/** `answer` and `subject`, the hash of the address in the answer, are stored in the claim of an Idempotency-Key. */
export type PreparedAnswer = PreparedOperation & {
  readonly answer: Json;
  readonly subject?: string;
};

/**
 * The credits are held and this process has the work, new or left by an earlier request. `left` is the balance after the debit,
 * if the response states it; unknown when an earlier request made the debit.
 */
export type StartedOperation = {
  readonly kind: "started";
  readonly operation: Operation;
  readonly left?: Halves | undefined;
};
type ReplayedAnswer = { readonly kind: "replayed"; readonly answer: Json };
/** Another process works on an earlier request with this key. A repeat may take the work over after `waitMs`. */
export type OperationInProgress = {
  readonly kind: "in_progress";
  readonly operation: Operation;
  readonly waitMs: number;
  readonly retryAfterMs: number;
};

export type BeginResult = StartedOperation | ReplayedAnswer | OperationInProgress;

/** Holds the price and claims the key in one transaction, or returns the state of an earlier request with this key. */
export const beginOperation = async (
  world: World,
  request: OperationRequest,
  prepare: () => Promise<PreparedWork>,
): Promise<BeginResult> => {
  const { id, kind, payer, idempotencyKey } = request;
  let operation: Operation | undefined;
  const outcome = await runOnce(
    world,
    request,
    prepare,
    async ({ price, input, expectedMs, writes }, isStated) => {
      operation ??= {
        ...toOrigin(world, request),
        amount: price,
        shard: 0,
        input,
        expectedMs,
        token: world.newId("txn"),
        isSent: false,
      };
      const how = { kind: "hold", isStated } as const;
      const debited = await buildOperationDebit(world, operation, payer, how);
      operation = { ...operation, shard: debited.shard };
      const item = {
        ...toOperationKey(id),
        list_pk: toHeldPartition(payer.account),
        list_sk: id,
        ...operation,
        ...scheduleWork(kind, id, addMs(world.now(), request.leaseMs), operation.token),
      };
      const opened = { create: item };
      const [entry, ...moves] = debited.writes;
      const others = [
        ...(idempotencyKey ? [createClaim(idempotencyKey, operation)] : []),
        ...(writes?.(debited.shard, operation.countedIn) ?? []),
      ];
      // The entry is never removed, so after a lost reply it shows the outcome even when the work has ended.
      return entry
        ? { ...debited, proof: entry, also: [...moves, opened, ...others] }
        : { ...debited, proof: opened, also: others };
    },
  );
  if (outcome.kind !== "committed") return outcome;
  if (!operation) throw new Error("the operation was not prepared");
  return { kind: "started", operation, left: outcome.left };
};

/**
 * For work that is already done: charges, claims the key and stores the answer in one transaction. If an earlier request with
 * this key did not finish, this process takes that request over instead.
 */
export const payImmediately = async (
  world: World,
  request: OperationRequest,
  prepare: () => Promise<PreparedAnswer>,
): Promise<BeginResult | PaidResult> => {
  const origin = toOrigin(world, request);
  const { idempotencyKey, payer } = request;
  const outcome = await runOnce(
    world,
    request,
    prepare,
    async ({ price, answer, subject, writes }, isStated) => {
      const how = { kind: "charge", isStated } as const;
      const debited = await buildOperationDebit(world, { ...origin, amount: price }, payer, how);
      const claim = idempotencyKey && createClaim(idempotencyKey, origin, answer, subject);
      const more = writes?.(debited.shard, origin.countedIn) ?? [];
      const all = [...debited.writes, ...(claim ? [claim] : []), ...more];
      // The entry is never removed, and the claim exists for its retention.
      const proof = all.find((write) => "create" in write) ?? null;
      return all.length > 0
        ? { ...debited, proof, also: all.filter((write) => write !== proof) }
        : undefined;
    },
  );
  return outcome.kind === "committed" ? { kind: "paid", left: outcome.left } : outcome;
};

export type PaidResult = { readonly kind: "paid"; readonly left: Halves | undefined };

const toOrigin = (world: World, { id, kind, payer, reason, idempotencyKey }: OperationRequest) => {
  const openedAt = world.now().toISOString();
  return {
    id,
    kind,
    account: payer.account,
    mode: payer.mode,
    openedAt,
    reason,
    claim: idempotencyKey && toClaimKey(idempotencyKey),
    countedIn: listCounters(payer, openedAt),
  };
};

type DebitOrigin = Pick<
  Operation,
  "id" | "openedAt" | "account" | "mode" | "amount" | "reason" | "countedIn"
>;

const buildOperationDebit = async (
  world: World,
  { id, openedAt, account, mode, amount, reason, countedIn }: DebitOrigin,
  payer: Payer,
  how: { readonly kind: "hold" | "charge"; readonly isStated: boolean },
): Promise<Omit<Debit, "writes"> & { readonly writes: Debit["writes"] | readonly [] }> => {
  if (mode === "test")
    return { shard: 0, writes: [], ...(how.isStated && { left: TEST_BALANCE.available }) };
  if (amount === 0) return { shard: 0, writes: [] };
  const limits = listSpendingLimits(payer, openedAt);
  const { plan } = payer;
  const request = { account, plan, operation: id, openedAt, amount, reason, countedIn, limits };
  return debit(world, { ...request, ...how });
};

// "refused": another request changed the balance or the claim, so each conflict means that another request succeeded.
const ATTEMPTS_MAX = 20;
const BACKOFF_MS = 20;
/** On AWS, a debit that states the remaining credits conflicts with every other debit, so the last attempts state nothing. */
const STATED_ATTEMPTS_MAX = 15;

/** `left`: as in `Debit`. */
type Payment = Transaction & Pick<Debit, "left">;
type CommittedPayment = { readonly kind: "committed"; readonly left: Halves | undefined };

/** "committed": this process has the work. Calls `prepare` at most once. */
const runOnce = async <P>(
  world: World,
  request: OperationRequest,
  prepare: () => Promise<P>,
  build: (prepared: P, isStated: boolean) => Promise<Payment | undefined>,
): Promise<BeginResult | CommittedPayment> => {
  const { payer } = request;
  let prepared: P | undefined;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const earlier =
      request.idempotencyKey &&
      (await resumeEarlierRequest(world, request.idempotencyKey, request.leaseMs));
    if (earlier && earlier !== "moved") return earlier;
    if (!earlier) {
      prepared ??= await rethrowAsUnavailable(request, admitFirst(request, prepare));
      const isStated = request.statesRemaining === true && attempt < STATED_ATTEMPTS_MAX;
      const transaction = await rethrowAsUnavailable(request, build(prepared, isStated));
      if (!transaction) return { kind: "committed", left: undefined };
      const result = await rethrowAsUnavailable(request, commit(world, transaction));
      if (result.outcome === "committed") {
        const left = transaction.left ?? (isStated ? findLeft(payer.account, result) : undefined);
        return { kind: "committed", left };
      }
      if (result.outcome === "ambiguous") throw createUnknownOutcomeFailure(request);
    }
    await world.sleep(world.random() * BACKOFF_MS * (attempt + 1));
  }
  const money = request.idempotencyKey ? "retry_same_key" : "nothing_charged";
  throw new Failure("UNAVAILABLE", money, "Too many concurrent requests for this account.");
};

const admitFirst = async <P>(
  { admit }: Pick<OperationRequest, "admit">,
  prepare: () => Promise<P>,
): Promise<P> => {
  await admit?.();
  return prepare();
};

/** Returns the state of an earlier request with the same key. If its lease has expired, this process takes it over. */
const resumeEarlierRequest = async (
  world: World,
  idempotencyKey: IdempotencyKey,
  leaseMs: number,
): Promise<BeginResult | "moved" | undefined> => {
  const claim = await findClaim(world.table, idempotencyKey);
  if (!claim) return undefined;
  if (claim.answer !== undefined) return { kind: "replayed", answer: claim.answer };
  const throwUnreadable = (cause: unknown) => {
    const what =
      "The service cannot read the state of the first request with this Idempotency-Key.";
    throw new Failure("UNAVAILABLE", "retry_same_key", what, { cause });
  };
  const item = await world.table.get(toOperationKey(claim.operation)).catch(throwUnreadable);
  // The operation ended between the two reads: the claim now contains its answer, or was removed.
  if (!item) return "moved";
  const waitMs = getRemainingLeaseMs(readScheduledWork(item), world.now());
  const operation = readOperation(item);
  const retryAfterMs = Math.min(waitMs, estimateRemainingMs(operation, world.now()));
  if (waitMs > 0) return { kind: "in_progress", operation, waitMs, retryAfterMs };
  const leased = await acquireLease(world, item, leaseMs).catch(throwUnreadable);
  return leased ? { kind: "started", operation: readOperation(leased) } : "moved";
};

/**
 * The table wrote nothing, but an earlier request with the same key may have been charged. A port throws a RangeError for a
 * write beyond its limits. Since the request passed validation, that is a bug, and every repeat would fail, too.
 */
const rethrowAsUnavailable = <T>(
  { idempotencyKey }: OperationRequest,
  step: Promise<T>,
): Promise<T> =>
  step.catch((cause: unknown) => {
    if (cause instanceof Failure) throw cause;
    if (cause instanceof RangeError) {
      const money = idempotencyKey ? "nothing_more" : "nothing_charged";
      throw new Failure("INTERNAL", money, "Internal error.", { cause });
    }
    const money = idempotencyKey ? "retry_same_key" : "nothing_charged";
    const what = "The service cannot reach its database right now.";
    throw new Failure("UNAVAILABLE", money, what, { cause });
  });

const createUnknownOutcomeFailure = ({ idempotencyKey, lookAt }: OperationRequest): Failure => {
  const what = "It is not known whether the request was accepted.";
  return idempotencyKey
    ? new Failure("UNAVAILABLE", "retry_same_key", what)
    : new Failure("INTERNAL", "unknown", what, { lookAt });
};
