import * as v from "valibot";
import { ListSummary } from "../intake/list-summary.ts";
import { Failure, withMoneySentence } from "../lib/failure.ts";
import { addMs } from "../lib/time.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import {
  type Operation,
  readOperation,
  release,
  settle,
  toOperationKey,
} from "../money/operations.ts";
import type { SendOutcome } from "../ports/queue.ts";
import type { Item, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { createFirstMessages, sendChunks } from "./chunk-messages.ts";
import { createRefundedChunk } from "./chunks.ts";
import { buildJobEnd, completeIfDone, emitJobEvent } from "./completion.ts";
import { findInputMetadata } from "./input-metadata.ts";
import { findJob, toJobKey } from "./items.ts";
import { JOB_CHECK_INTERVAL_MS } from "./repair-job.ts";

// A file that is paid for: its chunks are sent, and settled by what the queue said of each.

/** What was counted when the file was read. */
export const FileCounts = v.object({
  totalSubmitted: v.number(),
  duplicatesRemoved: v.number(),
  invalidSkipped: v.number(),
  unique: v.number(),
  /** Release 0.1.0 did not write it. */
  list: v.optional(ListSummary),
});

/** What whoever takes the dispatch over has to know. */
const DispatchInput = v.object({ ...FileCounts.entries, chunkRows: v.number() });

export type FileCounts = Readonly<v.InferOutput<typeof FileCounts>>;

/** What became of the chunks, in addresses. */
export type DispatchedAddresses = { readonly refused: number; readonly unknown: number };

export type FileResult = {
  readonly job: string;
  readonly counts: FileCounts;
  /** What this very request was charged: a repeat is not. */
  readonly price: Halves;
} & (
  | { readonly how: "accepted" | "replayed"; readonly dispatched: DispatchedAddresses }
  /** Somebody else is still at it; `waitMs` from now it is worth another look. */
  | { readonly how: "dispatching" | "settling"; readonly waitMs: number }
);

const SETTLE_RETRY_MS = 5_000;

/** What was in doubt at first is known by now, or will be: a repeat is told how it stands. */
export const findDispatchedNow = async (
  world: World,
  answer: FileAnswer,
): Promise<DispatchedAddresses> => {
  const job = await findJob(world.table, answer.job).catch(() => undefined);
  if (!job) return answer.dispatched;
  const { unresolved, total, chunkRows, refunded } = job;
  return { refused: refunded, unknown: countAddresses(unresolved, total, chunkRows) };
};

const countAddresses = (chunks: readonly number[], total: number, chunkRows: number): number =>
  chunks.reduce((sum, chunk) => sum + Math.min(chunkRows, total - chunk * chunkRows), 0);

/** What a claim remembers. */
export type FileAnswer = {
  readonly job: string;
  readonly counts: FileCounts;
  readonly price: Halves;
  readonly dispatched: DispatchedAddresses;
};

/**
 * Sends every chunk, and settles by what the queue said of each. Whoever takes it over sends all of them again; a
 * refusal means nothing then, for an earlier try may have got through.
 */
export const dispatchFile = async (
  world: World,
  operation: Operation,
  isFirstTry: boolean,
): Promise<FileResult> => {
  const { id, amount, input } = operation;
  const { chunkRows, ...counts } = v.parse(DispatchInput, input);
  const messages = createFirstMessages(id, await findInputMetadata(world.table, id));
  const { account, mode } = operation;
  const size = { account, mode, total: counts.unique, chunkRows };
  const outcomes = await sendChunks(world, size, messages);
  const sent = isFirstTry ? outcomes : outcomes.map((one) => (one === "refused" ? "unknown" : one));
  if (sent.every((one) => one === "refused")) return refundAll(world, operation);

  await recordSent(world, operation);
  const settlement = toSettlement(sent, counts.unique, chunkRows);
  const dispatched = {
    refused: settlement.refused.addresses,
    unknown: settlement.unknown.addresses,
  };
  const answer: FileAnswer = { job: id, counts, price: amount, dispatched };
  const result = await settleSent(world, operation, { ...settlement, answer });
  if (result !== "ended")
    return { job: id, counts, price: amount, how: "settling", waitMs: SETTLE_RETRY_MS };
  await completeIfDone(world, id).catch(() => false);
  return { ...answer, how: "accepted" };
};

/** For those who ask meanwhile: what is left to do is not sending any more. Only a hint, so nobody waits for it. */
const recordSent = async (world: World, { id, token }: Operation): Promise<void> => {
  await world.table
    .write({
      update: toOperationKey(id),
      set: { isSent: true },
      where: { token },
    })
    .catch(() => undefined);
};

type ChunkShare = { readonly chunks: readonly number[]; readonly addresses: number };
type Settlement = { readonly refused: ChunkShare; readonly unknown: ChunkShare };

/** One transaction holds a hundred writes; what is refused beyond that is resolved like what is unknown. */
const REFUNDS_PER_TRANSACTION = 80;

const toSettlement = (
  sent: readonly SendOutcome[],
  total: number,
  chunkRows: number,
): Settlement => {
  const toShare = (chunks: readonly number[]): ChunkShare => ({
    chunks,
    addresses: countAddresses(chunks, total, chunkRows),
  });
  const listChunks = (outcome: SendOutcome) =>
    [...sent.keys()].filter((chunk) => sent[chunk] === outcome);
  const refused = listChunks("refused");
  return {
    refused: toShare(refused.slice(0, REFUNDS_PER_TRANSACTION)),
    unknown: toShare(
      [...listChunks("unknown"), ...refused.slice(REFUNDS_PER_TRANSACTION)].toSorted(
        (a, b) => a - b,
      ),
    ),
  };
};

const settleSent = (
  world: World,
  operation: Operation,
  { refused, unknown, answer }: Settlement & { readonly answer: FileAnswer },
) => {
  const { id, mode } = operation;
  const price = (addresses: number) => (addresses * PRICE.fileAddress) as Halves;
  const settledPrice = price(answer.counts.unique - refused.addresses - unknown.addresses);
  const isOpen = unknown.chunks.length > 0;
  const job: Write = {
    update: toJobKey(id),
    set: {
      unsettled: unknown.chunks.length,
      unresolved: unknown.chunks,
      held: mode === "live" ? price(unknown.addresses) : 0,
      refunded: refused.addresses,
      ...(isOpen && { status: "enqueue_unknown" }),
      ...(!isOpen && { due_sk: getNextCheck(world) }),
    },
    where: { unsettled: 1 },
  };
  return settle(world, operation, {
    answer,
    moved: { settle: settledPrice, release: price(refused.addresses) },
    also: [job, ...refused.chunks.map((chunk) => createRefundedChunk({ id }, chunk, world.now()))],
  });
};

const getNextCheck = (world: World): string =>
  addMs(world.now(), JOB_CHECK_INTERVAL_MS).toISOString();

/** Not one chunk was queued, and surely not: there is no job, and never was one. */
const refundAll = async (world: World, operation: Operation): Promise<never> => {
  const { id, mode, claim } = operation;
  const job = await findJob(world.table, id);
  const message = "None of the addresses could be queued.";
  const money = mode === "live" ? "refunded" : "nothing_charged";
  const error = withMoneySentence(message, money);
  const also = job
    ? [
        requireUntouched(buildJobEnd(world, job, "failed", error)),
        emitJobEvent(world, job, "failed", error),
      ]
    : [];
  const result = await release(world, operation, also);
  if (result === "ended") throw new Failure("INTERNAL", money, message);
  throw new Failure("INTERNAL", claim ? "retry_same_key" : "unknown", message);
};

/** Whoever had it before us may have queued what we could not, and what is verified is not given back. */
const requireUntouched = (jobEnd: ReturnType<typeof buildJobEnd>): Write => ({
  ...jobEnd,
  where: { ...jobEnd.where, processed: 0 },
});

/** Whoever accepted the file is gone: its chunks are sent again, all of them, and settled. */
export const repairFile = async (world: World, item: Item): Promise<string> => {
  const result = await dispatchFile(world, readOperation(item), false);
  return result.how === "accepted" ? "dispatched" : "left_to_others";
};
