import * as v from "valibot";
import { Failure, withMoney } from "../failure.ts";
import { inMs } from "../moments.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import {
  type Operation,
  operationKey,
  readOperation,
  release,
  settle,
} from "../money/operations.ts";
import type { Sent } from "../queue.ts";
import type { Item, Write } from "../table.ts";
import type { World } from "../world.ts";
import { firstMessages, sendChunks } from "./chunk-messages.ts";
import { givenBack } from "./chunks.ts";
import { completeIfDone, endedJob, newsOf } from "./completion.ts";
import { findInput } from "./input-facts.ts";
import { findJob, jobKey } from "./items.ts";
import { ListSummary } from "./list-summary.ts";
import { LOOK_AGAIN_MS } from "./repair.ts";

// A file that is paid for: its chunks are sent, and settled by what the queue said of each.

/** What was counted when the file was read. */
export const Counts = v.object({
  totalSubmitted: v.number(),
  duplicatesRemoved: v.number(),
  invalidSkipped: v.number(),
  unique: v.number(),
  /** Release 0.1.0 did not write it. */
  list: v.optional(ListSummary),
});

/** What whoever takes the dispatch over has to know. */
const Input = v.object({ ...Counts.entries, chunkRows: v.number() });

export type Counts = Readonly<v.InferOutput<typeof Counts>>;

/** What became of the chunks, in addresses. */
export type Dispatched = { readonly refused: number; readonly unknown: number };

export type FileTold = {
  readonly job: string;
  readonly counts: Counts;
  /** What this very request was charged: a repeat is not. */
  readonly price: Halves;
} & (
  | { readonly how: "accepted" | "replayed"; readonly dispatched: Dispatched }
  /** Somebody else is still at it; `waitMs` from now it is worth another look. */
  | { readonly how: "dispatching" | "settling"; readonly waitMs: number }
);

const SETTLE_AGAIN_MS = 5_000;

/** What was in doubt at first is known by now, or will be: a repeat is told how it stands. */
export const dispatchedNow = async (world: World, answer: Answer): Promise<Dispatched> => {
  const job = await findJob(world.table, answer.job).catch(() => undefined);
  if (!job) return answer.dispatched;
  const { unresolved, total, chunkRows, refunded } = job;
  return { refused: refunded, unknown: addressesIn(unresolved, total, chunkRows) };
};

const addressesIn = (chunks: readonly number[], total: number, chunkRows: number): number =>
  chunks.reduce((sum, chunk) => sum + Math.min(chunkRows, total - chunk * chunkRows), 0);

/** What a claim remembers. */
export type Answer = {
  readonly job: string;
  readonly counts: Counts;
  readonly price: Halves;
  readonly dispatched: Dispatched;
};

/**
 * Sends every chunk, and settles by what the queue said of each. Whoever takes it over sends all of them again; a
 * refusal means nothing then, for an earlier try may have got through.
 */
export const dispatch = async (
  world: World,
  operation: Operation,
  isFirstTry: boolean,
): Promise<FileTold> => {
  const { id, amount, input } = operation;
  const { chunkRows, ...counts } = v.parse(Input, input);
  const messages = firstMessages(id, await findInput(world.table, id));
  const { account, mode } = operation;
  const size = { account, mode, total: counts.unique, chunkRows };
  const came = await sendChunks(world, size, messages);
  const sent = isFirstTry ? came : came.map((one) => (one === "refused" ? "unknown" : one));
  if (sent.every((one) => one === "refused")) return giveBack(world, operation);

  await noteSent(world, operation);
  const settlement = settlementOf(sent, counts.unique, chunkRows);
  const dispatched = {
    refused: settlement.refused.addresses,
    unknown: settlement.unknown.addresses,
  };
  const answer: Answer = { job: id, counts, price: amount, dispatched };
  const ended = await settleSent(world, operation, { ...settlement, answer });
  if (ended !== "ended")
    return { job: id, counts, price: amount, how: "settling", waitMs: SETTLE_AGAIN_MS };
  await completeIfDone(world, id).catch(() => false);
  return { ...answer, how: "accepted" };
};

/** For those who ask meanwhile: what is left to do is not sending any more. Only a hint, so nobody waits for it. */
const noteSent = async (world: World, { id, token }: Operation): Promise<void> => {
  await world.table
    .write({
      update: operationKey(id),
      set: { isSent: true },
      where: { token },
    })
    .catch(() => undefined);
};

type Some = { readonly chunks: readonly number[]; readonly addresses: number };
type Settlement = { readonly refused: Some; readonly unknown: Some };

/** One transaction holds a hundred writes; what is refused beyond that is resolved like what is unknown. */
const GIVEN_BACK_AT_ONCE = 80;

const settlementOf = (sent: readonly Sent[], total: number, chunkRows: number): Settlement => {
  const those = (chunks: readonly number[]): Some => ({
    chunks,
    addresses: addressesIn(chunks, total, chunkRows),
  });
  const which = (outcome: Sent) => [...sent.keys()].filter((chunk) => sent[chunk] === outcome);
  const refused = which("refused");
  return {
    refused: those(refused.slice(0, GIVEN_BACK_AT_ONCE)),
    unknown: those(
      [...which("unknown"), ...refused.slice(GIVEN_BACK_AT_ONCE)].toSorted((a, b) => a - b),
    ),
  };
};

const settleSent = (
  world: World,
  operation: Operation,
  { refused, unknown, answer }: Settlement & { readonly answer: Answer },
) => {
  const { id, mode } = operation;
  const price = (addresses: number) => (addresses * PRICE.fileAddress) as Halves;
  const kept = price(answer.counts.unique - refused.addresses - unknown.addresses);
  const isOpen = unknown.chunks.length > 0;
  const job: Write = {
    update: jobKey(id),
    set: {
      unsettled: unknown.chunks.length,
      unresolved: unknown.chunks,
      held: mode === "live" ? price(unknown.addresses) : 0,
      refunded: refused.addresses,
      ...(isOpen && { status: "enqueue_unknown" }),
      ...(!isOpen && { due_sk: lookAgainAt(world) }),
    },
    where: { unsettled: 1 },
  };
  return settle(world, operation, {
    answer,
    moved: { settle: kept, release: price(refused.addresses) },
    also: [job, ...refused.chunks.map((chunk) => givenBack({ id }, chunk, world.now()))],
  });
};

const lookAgainAt = (world: World): string => inMs(world.now(), LOOK_AGAIN_MS).toISOString();

/** Not one chunk was queued, and surely not: there is no job, and never was one. */
const giveBack = async (world: World, operation: Operation): Promise<never> => {
  const { id, mode, claim } = operation;
  const job = await findJob(world.table, id);
  const what = "None of the addresses could be queued.";
  const money = mode === "live" ? "refunded" : "nothing_charged";
  const error = withMoney(what, money);
  const also = job
    ? [neverBegun(endedJob(world, job, "failed", error)), newsOf(world, job, "failed", error)]
    : [];
  const ended = await release(world, operation, also);
  if (ended === "ended") throw new Failure("INTERNAL", money, what);
  throw new Failure("INTERNAL", claim ? "retry_same_key" : "unknown", what);
};

/** Whoever had it before us may have queued what we could not, and what is verified is not given back. */
const neverBegun = (ended: ReturnType<typeof endedJob>): Write => ({
  ...ended,
  where: { ...ended.where, processed: 0 },
});

/** Whoever accepted the file is gone: its chunks are sent again, all of them, and settled. */
export const repairFile = async (world: World, item: Item): Promise<string> => {
  const told = await dispatch(world, readOperation(item), false);
  return told.how === "accepted" ? "dispatched" : "left_to_others";
};
