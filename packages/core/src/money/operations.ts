import * as v from "valibot";
import type { Payer } from "../accounts/payer.ts";
import { Failure, type LookUpOperation } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { addMs } from "../lib/time.ts";
import type { Item, Json, Key, Table, TransactResult, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit, type Writes } from "../runtime/commit.ts";
import {
  acquireLease,
  getRemainingLeaseMs,
  readScheduledWork,
  scheduleWork,
} from "../runtime/leases.ts";
import {
  answerClaim,
  createClaim,
  findClaim,
  type IdempotencyKey,
  releaseClaim,
  toClaimKey,
} from "./claims.ts";
import type { Halves } from "./credits.ts";
import { debit } from "./debit.ts";
import { estimateRemainingMs } from "./in-progress.ts";
import { createEndEntry } from "./items.ts";
import { move } from "./ledger.ts";
import type { MovedAmounts } from "./moves.ts";

// Layout. Paid work that is under way. It is there from the debit until the money is settled, released, or handed
// over to a job, and each of these removes it: so only one of them can happen. A crash leaves it; it is due then.
//
//   pk               sk         list_pk            list_sk  what
//   OPERATION#<id>   OPERATION  HELD#<account>     <id>     who pays, what is held, and what was asked for

const Operation = v.object({
  id: v.string(),
  kind: v.string(),
  account: v.string(),
  mode: v.picklist(["live", "test"]),
  openedAt: v.string(),
  amount: v.custom<Halves>(Number.isSafeInteger),
  reason: v.string(),
  claim: v.nullable(v.object({ pk: v.string(), sk: v.string() })),
  input: v.custom<Json>(() => true),
  token: v.string(),
  /** How long the work is expected to take. Operations of 0.1.0 do not say. */
  expectedMs: v.optional(v.number()),
  /** When the work was taken over; left out while the first request is at it. */
  taken_at: v.optional(v.string()),
  /** All that was to be sent is sent. */
  isSent: v.optional(v.boolean(), false),
});

export type Operation = Readonly<v.InferOutput<typeof Operation>>;

export const readOperation = (item: Item): Operation => v.parse(Operation, item);
export const toOperationKey = (id: string): Key => ({ pk: `OPERATION#${id}`, sk: "OPERATION" });
const toHeldPartition = (account: string): string => `HELD#${account}`;

/** Everything of an account that is under way and not yet a job's. */
export async function* iterateOperations(table: Table, account: string): AsyncGenerator<Operation> {
  for await (const item of paginateQuery(table, { index: "list", pk: toHeldPartition(account) }))
    yield readOperation(item);
}

/** What somebody wants done and pays for. */
export type OperationRequest = {
  readonly id: string;
  readonly kind: string;
  readonly payer: Payer;
  readonly reason: string;
  readonly idempotencyKey: IdempotencyKey | null;
  /** Before this is over nobody else goes on with it. */
  readonly leaseMs: number;
  /** Where the caller sees whether it was done. Left out: among the jobs. */
  readonly lookAt?: LookUpOperation;
};

/** What is found out once it is known that nobody did it before: the price, and what is written with the debit. */
type PreparedOperation = { readonly price: Halves; readonly writes?: readonly Write[] };
/** `input` is enough for another process to go on with it; `expectedMs` is how long the work is expected to take. */
export type PreparedWork = PreparedOperation & {
  readonly input: Json;
  readonly expectedMs: number;
};
export type PreparedAnswer = PreparedOperation & { readonly answer: Json };

/**
 * `begun`: the money is held and the work is ours. `answered`: an earlier request with this key was paid for, and
 * this came of it. `underWay`: it is worked on, and a repeat may take it over after `waitMs`.
 */
export type BeginResult =
  | { readonly begun: Operation }
  | { readonly answered: Json }
  | { readonly underWay: Operation; readonly waitMs: number; readonly retryAfterMs: number };

/** Holds the price and claims the key in one transaction, or finds out what an earlier request came to. */
export const beginOperation = async (
  world: World,
  request: OperationRequest,
  prepare: () => Promise<PreparedWork>,
): Promise<BeginResult> => {
  const { id, kind, payer, idempotencyKey } = request;
  let operation: Operation | undefined;
  const earlier = await runOnce(
    world,
    request,
    prepare,
    async ({ price, input, expectedMs, writes: also = [] }) => {
      operation ??= {
        ...toOrigin(world, request),
        amount: price,
        input,
        expectedMs,
        token: world.newId("txn"),
        isSent: false,
      };
      const item = {
        ...toOperationKey(id),
        list_pk: toHeldPartition(payer.account),
        list_sk: id,
        ...operation,
        ...scheduleWork(kind, id, addMs(world.now(), request.leaseMs), operation.token),
      };
      // The entry is first: it stays for ever, so a lost reply can be told by it even when the work is done since.
      return [
        ...(await buildOperationDebit(world, operation, "hold")),
        { create: item },
        ...(idempotencyKey ? [createClaim(idempotencyKey, operation)] : []),
        ...also,
      ];
    },
  );
  if (earlier) return earlier;
  if (!operation) throw new Error("an operation that nobody prepared");
  return { begun: operation };
};

/**
 * For what is answered already: charges, claims the key and keeps the answer in one transaction. Unless an earlier
 * request with this key was left half done: that one is ours then.
 */
export const payImmediately = async (
  world: World,
  request: OperationRequest,
  prepare: () => Promise<PreparedAnswer>,
): Promise<BeginResult | PaidResult> => {
  const origin = toOrigin(world, request);
  const { idempotencyKey } = request;
  const earlier = await runOnce(
    world,
    request,
    prepare,
    async ({ price, answer, writes: also = [] }) => [
      ...(await buildOperationDebit(world, { ...origin, amount: price }, "charge")),
      ...(idempotencyKey ? [createClaim(idempotencyKey, origin, answer)] : []),
      ...also,
    ],
  );
  return earlier ?? { paid: true };
};

export type PaidResult = { readonly paid: true };

const toOrigin = (world: World, { id, kind, payer, reason, idempotencyKey }: OperationRequest) => ({
  id,
  kind,
  account: payer.account,
  mode: payer.mode,
  openedAt: world.now().toISOString(),
  reason,
  claim: idempotencyKey && toClaimKey(idempotencyKey),
});

type OwedOperation = Pick<Operation, "id" | "openedAt" | "account" | "mode" | "amount" | "reason">;

const buildOperationDebit = async (
  world: World,
  { id, openedAt, account, mode, amount, reason }: OwedOperation,
  kind: "hold" | "charge",
): Promise<readonly Write[]> =>
  mode === "test" || amount === 0
    ? []
    : debit(world, { account, operation: id, openedAt, kind, amount, reason });

// Refused means that a balance or a claim moved; each time somebody else got on, and not for long.
const ATTEMPTS_MAX = 20;
const BACKOFF_MS = 20;

/** Undefined: what was to be written is written, and it is ours. What is prepared is prepared once. */
const runOnce = async <P>(
  world: World,
  request: OperationRequest,
  prepare: () => Promise<P>,
  build: (prepared: P) => Promise<readonly Write[]>,
): Promise<BeginResult | undefined> => {
  let prepared: P | undefined;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const earlier =
      request.idempotencyKey &&
      (await resumeEarlierRequest(world, request.idempotencyKey, request.leaseMs));
    if (earlier && earlier !== "moved") return earlier;
    if (!earlier) {
      prepared ??= await rethrowAsUnavailable(request, prepare());
      const [first, ...more] = await rethrowAsUnavailable(request, build(prepared));
      if (!first) return undefined;
      const result = await rethrowAsUnavailable(request, commit(world, [first, ...more]));
      if (result.outcome === "committed") return undefined;
      if (result.outcome === "ambiguous") throw createUnknownOutcomeFailure(request);
    }
    await world.sleep(world.random() * BACKOFF_MS * (attempt + 1));
  }
  const money = request.idempotencyKey ? "retry_same_key" : "nothing_charged";
  throw new Failure("UNAVAILABLE", money, "Too much of this account moves at once.");
};

/** What an earlier request with the same key came to. One that nobody works on any more is ours from here. */
const resumeEarlierRequest = async (
  world: World,
  idempotencyKey: IdempotencyKey,
  leaseMs: number,
): Promise<BeginResult | "moved" | undefined> => {
  const claim = await findClaim(world.table, idempotencyKey);
  if (!claim) return undefined;
  if (claim.answer !== undefined) return { answered: claim.answer };
  const throwUnreadable = (cause: unknown) => {
    const what = "It could not be read how far the first request with this Idempotency-Key is.";
    throw new Failure("UNAVAILABLE", "retry_same_key", what, { cause });
  };
  const item = await world.table.get(toOperationKey(claim.operation)).catch(throwUnreadable);
  // Ended between our two looks: the claim says by now what came of it, or is gone.
  if (!item) return "moved";
  const waitMs = getRemainingLeaseMs(readScheduledWork(item), world.now());
  const underWay = readOperation(item);
  const retryAfterMs = Math.min(waitMs, estimateRemainingMs(underWay, world.now()));
  if (waitMs > 0) return { underWay, waitMs, retryAfterMs };
  const leased = await acquireLease(world, item, leaseMs).catch(throwUnreadable);
  return leased ? { begun: readOperation(leased) } : "moved";
};

/** The table is sure that it wrote nothing. Of an earlier request under the same key that says nothing. */
const rethrowAsUnavailable = <T>(
  { idempotencyKey }: OperationRequest,
  step: Promise<T>,
): Promise<T> =>
  step.catch((cause: unknown) => {
    if (cause instanceof Failure) throw cause;
    const what = "The service cannot reach its own state right now.";
    throw new Failure("UNAVAILABLE", idempotencyKey ? "retry_same_key" : "nothing_charged", what, {
      cause,
    });
  });

const createUnknownOutcomeFailure = ({ idempotencyKey, lookAt }: OperationRequest): Failure => {
  const what = "It is not known whether this was accepted.";
  return idempotencyKey
    ? new Failure("UNAVAILABLE", "retry_same_key", what)
    : new Failure("INTERNAL", "unknown", what, { lookAt });
};

/** `lost`: somebody else went on with it, since our time was up. `unknown`: no reply came. */
export type EndResult = "ended" | "lost" | "unknown";

/** Moves what was held to where it belongs, and remembers the answer for repeats. */
export const settle = (
  world: World,
  operation: Operation,
  {
    answer,
    moved = { settle: operation.amount },
    also = [],
  }: { readonly answer: Json; readonly moved?: MovedAmounts; readonly also?: readonly Write[] },
): Promise<EndResult> => {
  const { claim, id } = operation;
  const claimWrites = claim ? [answerClaim(claim, id, answer)] : [];
  return endOperation(world, operation, moved, [...claimWrites, ...also]);
};

/** Gives back what was held and frees the key, in one transaction. */
export const release = (
  world: World,
  operation: Operation,
  also: readonly Write[] = [],
): Promise<EndResult> => {
  const { claim, id } = operation;
  const claimWrites = claim ? [releaseClaim(claim, id)] : [];
  return endOperation(world, operation, { release: operation.amount }, [...claimWrites, ...also]);
};

const endOperation = async (
  world: World,
  operation: Operation,
  moved: MovedAmounts,
  also: readonly Write[],
): Promise<EndResult> => {
  const { id, account, openedAt, reason, token } = operation;
  const origin = { operation: id, account, openedAt };
  const closing = createEndEntry(origin, { at: world.now(), moved, reason, token });
  const removal = buildOperationRemoval(operation);
  const writes: Writes =
    operation.mode === "live" ? [...move(closing), removal, ...also] : [removal, ...also];
  return toEndResult(commit(world, writes));
};

/** Whether it is under way, and ours: what was refused with its end had another reason then. */
export const isStillOwned = async (table: Table, { id, token }: Operation): Promise<boolean> =>
  (await table.get(toOperationKey(id)))?.["token"] === token;

/** Leaves the money held and the work to a job: its creation comes first. */
export const handOverToJob = async (
  world: World,
  operation: Operation,
  job: Item,
  answer: Json,
): Promise<EndResult> => {
  const { claim, id } = operation;
  const claimWrites = claim ? [answerClaim(claim, id, answer)] : [];
  return toEndResult(
    commit(world, [{ create: job }, buildOperationRemoval(operation), ...claimWrites]),
  );
};

/** A door that throws changes nothing: the money is held as before, and the next who looks goes on from there. */
const toEndResult = async (commitment: Promise<TransactResult>): Promise<EndResult> => {
  const { outcome } = await commitment.catch(() => ({ outcome: "ambiguous" }));
  if (outcome === "committed") return "ended";
  return outcome === "refused" ? "lost" : "unknown";
};

/** Only whoever holds it now: an owner that was gone for too long finds another token. */
const buildOperationRemoval = ({ id, token }: Operation): Write => ({
  remove: toOperationKey(id),
  where: { token },
});
