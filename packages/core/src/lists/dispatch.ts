import * as v from "valibot";
import { ListSummary } from "../intake/list-summary.ts";
import { Failure, withMoneySentence } from "../lib/failure.ts";
import { addMs } from "../lib/time.ts";
import type { StartedOperation } from "../money/begin-operation.ts";
import type { Halves } from "../money/credits.ts";
import { release, settle } from "../money/end-operation.ts";
import { type Operation, readOperation, toOperationKey } from "../money/operation-items.ts";
import { PRICES } from "../money/prices.ts";
import type { SendOutcome } from "../ports/queue.ts";
import type { Item, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { listFirstMessages, sendChunks } from "../rows/chunk-messages.ts";
import { countChunkRows, createRefundedChunk } from "../rows/chunks.ts";
import { findJob, findReplayedJob, JOB_CHECK_INTERVAL_MS, toJobKey } from "../rows/items.ts";
import { toRefundFields } from "../rows/refunds.ts";
import { MAX_LEASE_MS } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import { buildJobEnd, emitJobEvent } from "./completion.ts";
import { settleAndComplete } from "./repair-job.ts";

/** The kind of a job made from a file, or from rows of an earlier job. */
export const FILE = "file";

// Dispatch of a paid file: sends its chunks, and settles each by the queue's reply.

/** The counts of a file's rows. */
export const FileCounts = v.object({
  totalSubmitted: v.number(),
  duplicatesRemoved: v.number(),
  invalidSkipped: v.number(),
  /** 0.2.0 has none. */
  settledSkipped: v.optional(v.number(), 0),
  unique: v.number(),
  list: ListSummary,
});

/** The input for a process that takes the dispatch over. */
const DispatchInput = v.object({ ...FileCounts.entries, chunkRows: v.number() });

export type FileCounts = Readonly<v.InferOutput<typeof FileCounts>>;

/** The outcome of the dispatch, in addresses. */
export type DispatchedAddresses = { readonly refused: number; readonly unknown: number };

type AcceptedFile = {
  readonly job: string;
  readonly counts: FileCounts;
  /** The charge of this request; 0 for a repeat. */
  readonly price: Halves;
  /** The balance after the charge and its immediate refunds. Undefined when it is unknown. */
  readonly remaining?: Halves | undefined;
};

/** The answer that the claim stores. */
export type FileAnswer = AcceptedFile & { readonly dispatched: DispatchedAddresses };

export type FileResult =
  | (FileAnswer & { readonly kind: "accepted" | "replayed" })
  /** Another process is still dispatching; ask again after `waitMs`. */
  | (AcceptedFile & { readonly kind: "dispatching" | "settling"; readonly waitMs: number });

const SETTLE_RETRY_MS = 5_000;

/** The current state for a repeat: chunks whose outcome was unknown at first may be resolved by now. */
export const findDispatchedNow = async (
  world: World,
  answer: FileAnswer,
): Promise<DispatchedAddresses> => {
  const job = await findReplayedJob(world.table, answer.job);
  if (!job) return answer.dispatched;
  const { unresolved, total, chunkRows, refunds } = job;
  return { refused: refunds.no_result, unknown: countAddresses(unresolved, total, chunkRows) };
};

const countAddresses = (chunks: readonly number[], total: number, chunkRows: number): number =>
  chunks.reduce((sum, chunk) => sum + countChunkRows({ total, chunkRows }, chunk), 0);

/**
 * Sends every chunk, and settles each by the queue's reply. A process that takes the dispatch over sends all chunks
 * again. A refusal counts as unknown then, because the earlier attempt may have succeeded.
 */
export const dispatchFile = async (
  world: World,
  { operation, left }: Omit<StartedOperation, "kind">,
  isFirstTry: boolean,
): Promise<FileResult> => {
  const { id, amount, input } = operation;
  const { chunkRows, ...counts } = v.parse(DispatchInput, input);
  const { account, mode } = operation;
  const size = { account, mode, kind: FILE, total: counts.unique, chunkRows } as const;
  const messages = await listFirstMessages(world.table, { id, kind: FILE });
  const outcomes = await sendChunks(world, size, messages);
  const sent = isFirstTry ? outcomes : outcomes.map((one) => (one === "refused" ? "unknown" : one));
  if (sent.every((one) => one === "refused")) return refundAll(world, operation);

  await recordSent(world, operation);
  const chunks = sortChunks(sent);
  const countIn = (some: readonly number[]) => countAddresses(some, counts.unique, chunkRows);
  const dispatched = { refused: countIn(chunks.refused), unknown: countIn(chunks.unknown) };
  const refunded = operation.mode === "live" ? dispatched.refused * PRICES.fileAddress : 0;
  const remaining = left === undefined ? undefined : ((left + refunded) as Halves);
  const answer: FileAnswer = { job: id, counts, price: amount, remaining, dispatched };
  const result = await settleSent(world, operation, chunks, answer);
  if (result !== "ended") return { ...answer, kind: "settling", waitMs: SETTLE_RETRY_MS };
  await settleAndComplete(world, id).catch(() => undefined);
  return { ...answer, kind: "accepted" };
};

/** Records that all chunks were sent, for repeats of the request. Only a hint, so the dispatch does not wait for it. */
const recordSent = async (world: World, { id, token }: Operation): Promise<void> => {
  await world.table
    .write({
      update: toOperationKey(id),
      set: { isSent: true },
      where: { token },
    })
    .catch(() => undefined);
};

/** A transaction has at most a hundred writes; further refused chunks are treated as unknown. */
const REFUNDS_PER_TRANSACTION = 80;

type SentChunks = { readonly refused: readonly number[]; readonly unknown: readonly number[] };

const sortChunks = (sent: readonly SendOutcome[]): SentChunks => {
  const list = (outcome: SendOutcome) => [...sent.keys()].filter((at) => sent[at] === outcome);
  const refused = list("refused");
  const unknown = [...list("unknown"), ...refused.slice(REFUNDS_PER_TRANSACTION)];
  return {
    refused: refused.slice(0, REFUNDS_PER_TRANSACTION),
    unknown: unknown.toSorted((a, b) => a - b),
  };
};

const settleSent = (
  world: World,
  operation: Operation,
  { refused, unknown }: SentChunks,
  answer: FileAnswer,
) => {
  const { id, mode } = operation;
  const { counts, dispatched } = answer;
  const price = (addresses: number) => (addresses * PRICES.fileAddress) as Halves;
  const settledPrice = price(counts.unique - dispatched.refused - dispatched.unknown);
  const isOpen = unknown.length > 0;
  const job: Write = {
    update: toJobKey(id),
    set: {
      unsettled: unknown.length,
      unresolved: unknown,
      held: mode === "live" ? price(dispatched.unknown) : 0,
      ...toRefundFields({ no_result: dispatched.refused }),
      ...(isOpen && { status: "enqueue_unknown" }),
      ...(!isOpen && { due_sk: getNextCheck(world) }),
    },
    where: { unsettled: 1 },
  };
  return settle(world, operation, {
    answer,
    moved: { settle: settledPrice, release: price(dispatched.refused) },
    also: [job, ...refused.map((chunk) => createRefundedChunk({ id }, chunk, world.now()))],
  });
};

const getNextCheck = (world: World): string =>
  addMs(world.now(), JOB_CHECK_INTERVAL_MS).toISOString();

/** The queue certainly took no chunk: releases the credits, and no job exists. */
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

/** An earlier process may have queued chunks that this process could not, and verified rows get no refund. */
const requireUntouched = (jobEnd: ReturnType<typeof buildJobEnd>): Write => ({
  ...jobEnd,
  where: { ...jobEnd.where, processed: 0 },
});

/** The process that accepted the file is gone: sends all of its chunks again, and settles them. */
const repairFile = async (world: World, item: Item): Promise<string> => {
  const result = await dispatchFile(world, { operation: readOperation(item) }, false);
  return result.kind === "accepted" ? "dispatched" : "left_to_others";
};

export const fileWork: WorkKind = {
  kind: FILE,
  repair: repairFile,
  longestWaitMs: MAX_LEASE_MS,
};
