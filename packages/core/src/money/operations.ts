import * as v from "valibot";
import type { Payer } from "../access/payer.ts";
import { commit, type Writes } from "../commit.ts";
import { dueAt, leaseLeftMs, readDue, take } from "../due.ts";
import { everyItem } from "../every-item.ts";
import { Failure } from "../failure.ts";
import { inMs } from "../moments.ts";
import type { Item, Json, Key, Table, Transacted, Write } from "../table.ts";
import type { World } from "../world.ts";
import { answerClaim, claimFor, claimKey, findClaim, type Keyed, releaseClaim } from "./claims.ts";
import type { Halves } from "./credits.ts";
import { debit } from "./debit.ts";
import { estimateRemainingMs } from "./in-progress.ts";
import { endOf } from "./items.ts";
import { move } from "./ledger.ts";
import type { Moved } from "./moves.ts";

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
export const operationKey = (id: string): Key => ({ pk: `OPERATION#${id}`, sk: "OPERATION" });
const heldBy = (account: string): string => `HELD#${account}`;

/** Everything of an account that is under way and not yet a job's. */
export async function* operationsOf(table: Table, account: string): AsyncGenerator<Operation> {
  for await (const item of everyItem(table, { index: "list", pk: heldBy(account) }))
    yield readOperation(item);
}

/** What somebody wants done and pays for. */
export type Order = {
  readonly id: string;
  readonly kind: string;
  readonly payer: Payer;
  readonly reason: string;
  readonly keyed: Keyed | null;
  /** Before this is over nobody else goes on with it. */
  readonly leaseMs: number;
  /** Where the caller sees whether it was done. Left out: among the jobs. */
  readonly lookAt?: string;
};

/** What is found out once it is known that nobody did it before: the price, and what is written with the debit. */
type Prepared = { readonly price: Halves; readonly also?: readonly Write[] };
/** `input` is enough for another process to go on with it; `expectedMs` is how long the work is expected to take. */
export type Started = Prepared & { readonly input: Json; readonly expectedMs: number };
export type Finished = Prepared & { readonly answer: Json };

/**
 * `begun`: the money is held and the work is ours. `answered`: an earlier request with this key was paid for, and
 * this came of it. `underWay`: it is worked on, and a repeat may take it over after `waitMs`.
 */
export type Begun =
  | { readonly begun: Operation }
  | { readonly answered: Json }
  | { readonly underWay: Operation; readonly waitMs: number; readonly retryAfterMs: number };

/** Holds the price and claims the key in one transaction, or finds out what an earlier request came to. */
export const begin = async (
  world: World,
  order: Order,
  prepare: () => Promise<Started>,
): Promise<Begun> => {
  const { id, kind, payer, keyed } = order;
  let operation: Operation | undefined;
  const earlier = await firstOf(
    world,
    order,
    prepare,
    async ({ price, input, expectedMs, also = [] }) => {
      operation ??= {
        ...originOf(world, order),
        amount: price,
        input,
        expectedMs,
        token: world.newId("txn"),
        isSent: false,
      };
      const item = {
        ...operationKey(id),
        list_pk: heldBy(payer.account),
        list_sk: id,
        ...operation,
        ...dueAt(kind, id, inMs(world.now(), order.leaseMs), operation.token),
      };
      // The entry is first: it stays for ever, so a lost reply can be told by it even when the work is done since.
      return [
        ...(await debitFor(world, operation, "hold")),
        { create: item },
        ...(keyed ? [claimFor(keyed, operation)] : []),
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
export const payAtOnce = async (
  world: World,
  order: Order,
  prepare: () => Promise<Finished>,
): Promise<Begun | Paid> => {
  const origin = originOf(world, order);
  const { keyed } = order;
  const earlier = await firstOf(world, order, prepare, async ({ price, answer, also = [] }) => [
    ...(await debitFor(world, { ...origin, amount: price }, "charge")),
    ...(keyed ? [claimFor(keyed, origin, answer)] : []),
    ...also,
  ]);
  return earlier ?? { paid: true };
};

export type Paid = { readonly paid: true };

const originOf = (world: World, { id, kind, payer, reason, keyed }: Order) => ({
  id,
  kind,
  account: payer.account,
  mode: payer.mode,
  openedAt: world.now().toISOString(),
  reason,
  claim: keyed && claimKey(keyed),
});

type Owing = Pick<Operation, "id" | "openedAt" | "account" | "mode" | "amount" | "reason">;

const debitFor = async (
  world: World,
  { id, openedAt, account, mode, amount, reason }: Owing,
  as: "hold" | "charge",
): Promise<readonly Write[]> =>
  mode === "test" || amount === 0
    ? []
    : debit(world, { account, operation: id, openedAt, as, amount, reason });

// Refused means that a balance or a claim moved; each time somebody else got on, and not for long.
const TRIES_MAX = 20;
const BETWEEN_TRIES_MS = 20;

/** Undefined: what was to be written is written, and it is ours. What is prepared is prepared once. */
const firstOf = async <P>(
  world: World,
  order: Order,
  prepare: () => Promise<P>,
  make: (prepared: P) => Promise<readonly Write[]>,
): Promise<Begun | undefined> => {
  let prepared: P | undefined;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const earlier = order.keyed && (await resume(world, order.keyed, order.leaseMs));
    if (earlier && earlier !== "moved") return earlier;
    if (!earlier) {
      prepared ??= await orUnavailable(order, prepare());
      const [first, ...more] = await orUnavailable(order, make(prepared));
      if (!first) return undefined;
      const result = await orUnavailable(order, commit(world, [first, ...more]));
      if (result.outcome === "committed") return undefined;
      if (result.outcome === "ambiguous") throw unsure(order);
    }
    await world.sleep(world.random() * BETWEEN_TRIES_MS * (tries + 1));
  }
  const money = order.keyed ? "retry_same_key" : "nothing_charged";
  throw new Failure("UNAVAILABLE", money, "Too much of this account moves at once.");
};

/** What an earlier request with the same key came to. One that nobody works on any more is ours from here. */
const resume = async (
  world: World,
  keyed: Keyed,
  leaseMs: number,
): Promise<Begun | "moved" | undefined> => {
  const claim = await findClaim(world.table, keyed);
  if (!claim) return undefined;
  if (claim.answer !== undefined) return { answered: claim.answer };
  const unread = (cause: unknown) => {
    const what = "It could not be read how far the first request with this Idempotency-Key is.";
    throw new Failure("UNAVAILABLE", "retry_same_key", what, { cause });
  };
  const item = await world.table.get(operationKey(claim.operation)).catch(unread);
  // Ended between our two looks: the claim says by now what came of it, or is gone.
  if (!item) return "moved";
  const waitMs = leaseLeftMs(readDue(item), world.now());
  const underWay = readOperation(item);
  const retryAfterMs = Math.min(waitMs, estimateRemainingMs(underWay, world.now()));
  if (waitMs > 0) return { underWay, waitMs, retryAfterMs };
  const taken = await take(world, item, leaseMs).catch(unread);
  return taken ? { begun: readOperation(taken) } : "moved";
};

/** The table is sure that it wrote nothing. Of an earlier request under the same key that says nothing. */
const orUnavailable = <T>({ keyed }: Order, step: Promise<T>): Promise<T> =>
  step.catch((cause: unknown) => {
    if (cause instanceof Failure) throw cause;
    const what = "The service cannot reach its own state right now.";
    throw new Failure("UNAVAILABLE", keyed ? "retry_same_key" : "nothing_charged", what, { cause });
  });

const unsure = ({ keyed, lookAt }: Order): Failure => {
  const what = "It is not known whether this was accepted.";
  return keyed
    ? new Failure("UNAVAILABLE", "retry_same_key", what)
    : new Failure("INTERNAL", "unknown", what, { lookAt });
};

/** `lost`: somebody else went on with it, since our time was up. `unknown`: no reply came. */
export type Ended = "ended" | "lost" | "unknown";

/** Moves what was held to where it belongs, and remembers the answer for repeats. */
export const settle = (
  world: World,
  operation: Operation,
  {
    answer,
    moved = { settle: operation.amount },
    also = [],
  }: { readonly answer: Json; readonly moved?: Moved; readonly also?: readonly Write[] },
): Promise<Ended> => {
  const { claim, id } = operation;
  const answered = claim ? [answerClaim(claim, id, answer)] : [];
  return end(world, operation, moved, [...answered, ...also]);
};

/** Gives back what was held and frees the key, in one transaction. */
export const release = (
  world: World,
  operation: Operation,
  also: readonly Write[] = [],
): Promise<Ended> => {
  const { claim, id } = operation;
  const freed = claim ? [releaseClaim(claim, id)] : [];
  return end(world, operation, { release: operation.amount }, [...freed, ...also]);
};

const end = async (
  world: World,
  operation: Operation,
  moved: Moved,
  also: readonly Write[],
): Promise<Ended> => {
  const { id, account, openedAt, reason, token } = operation;
  const origin = { operation: id, account, openedAt };
  const closing = endOf(origin, { at: world.now(), moved, reason, token });
  const removed = removeOperation(operation);
  const writes: Writes =
    operation.mode === "live" ? [...move(closing), removed, ...also] : [removed, ...also];
  return endedAs(commit(world, writes));
};

/** Whether it is under way, and ours: what was refused with its end had another reason then. */
export const isStillOurs = async (table: Table, { id, token }: Operation): Promise<boolean> =>
  (await table.get(operationKey(id)))?.["token"] === token;

/** Leaves the money held and the work to a job: its creation comes first. */
export const handOver = async (
  world: World,
  operation: Operation,
  job: Item,
  answer: Json,
): Promise<Ended> => {
  const { claim, id } = operation;
  const answered = claim ? [answerClaim(claim, id, answer)] : [];
  return endedAs(commit(world, [{ create: job }, removeOperation(operation), ...answered]));
};

/** A door that throws changes nothing: the money is held as before, and the next who looks goes on from there. */
const endedAs = async (committed: Promise<Transacted>): Promise<Ended> => {
  const { outcome } = await committed.catch(() => ({ outcome: "ambiguous" }));
  if (outcome === "committed") return "ended";
  return outcome === "refused" ? "lost" : "unknown";
};

/** Only whoever holds it now: an owner that was gone for too long finds another token. */
const removeOperation = ({ id, token }: Operation): Write => ({
  remove: operationKey(id),
  where: { token },
});
