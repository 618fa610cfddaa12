import * as v from "valibot";
import { toSlices } from "../intake/input-blob.ts";
import { getOwnerId, toQueueGroup } from "../money/payer.ts";
import type { QueueConfig, SendOutcome } from "../ports/queue.ts";
import type { Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { countChunkRows } from "./chunks.ts";
import { findInputMetadata, type InputMetadata } from "./input-metadata.ts";
import type { Job } from "./items.ts";

/** A message only refers to its rows, so a second or late delivery does no harm. */
const ChunkMessage = v.object({
  job: v.string(),
  // Release 0.2.0 names neither for a pending verification.
  chunk: v.optional(v.number(), 0),
  /** The number of earlier passes. */
  pass: v.optional(v.number(), 0),
  /** The number of earlier passes of the job itself, without passes of its children. Release 0.2.0 does not send it. */
  own: v.optional(v.number()),
  from: v.optional(v.number(), 0),
  to: v.optional(v.number(), 0),
  /** The CRC-32 of these bytes. */
  checksum: v.optional(v.number(), 0),
});

export type ChunkMessage = Readonly<v.InferOutput<typeof ChunkMessage>>;

export const readChunkMessage = (body: unknown): ChunkMessage => v.parse(ChunkMessage, body);

/**
 * `concurrency` is in rows. One account may use half of it: with more rows, more rows share a session. While memory is
 * short, two chunks of a file keep a thread busy. A pass over a chunk takes 12 minutes at most.
 */
export const CHUNKS_QUEUE = {
  name: "chunks",
  visibilitySeconds: 960,
  receivesMax: 12,
  concurrency: 20_000,
  concurrencyWhenBusy: 1_000,
  isBoundByMemory: true,
};

/**
 * Clients wait for these, and they mostly wait for mail servers, so many run even while a list keeps the thread busy.
 * `visibilitySeconds`: longer than a session with a tarpit, or than the backoffs before a throttle is one.
 */
export const SINGLES_QUEUE = {
  name: "singles",
  visibilitySeconds: 300,
  receivesMax: 5,
  concurrency: 200,
  concurrencyWhenBusy: 100,
};

export const toQueue = ({ kind }: Pick<Job, "kind">): QueueConfig =>
  kind === "single" ? SINGLES_QUEUE : CHUNKS_QUEUE;

/** The fields of a job that decide the weight of its messages. */
export type JobSize = Pick<Job, "account" | "mode" | "total" | "chunkRows" | "kind">;

/** One outcome for each message. `rows`: how many rows this pass attempts; absent for every row of the chunk. */
export const sendChunks = (
  world: Pick<World, "queue">,
  job: JobSize,
  messages: readonly ChunkMessage[],
  { delaySeconds = 0, rows }: { readonly delaySeconds?: number; readonly rows?: number } = {},
): Promise<readonly SendOutcome[]> =>
  world.queue.sendMany(
    toQueue(job).name,
    messages.map((body) => ({
      // Release 0.2.0 counts the waits of a pending verification, and handles the message of its first pass only.
      body: job.kind === "single" ? { ...body, waits: body.pass } : body,
      delaySeconds,
      ...toQueueGroup(getOwnerId(job)),
      weight: Math.max(1, rows ?? countChunkRows(job, body.chunk)),
      order: rows ?? job.total,
    })),
  );

/** The first pass over every chunk. */
export const listFirstMessages = async (
  table: Table,
  { id, kind }: Pick<Job, "id" | "kind">,
): Promise<readonly ChunkMessage[]> =>
  kind === "single"
    ? [createPendingMessage(id)]
    : createFirstMessages(id, await findInputMetadata(table, id));

/** The only chunk of a pending verification: its row is in the job. */
export const createPendingMessage = (job: string): ChunkMessage => readChunkMessage({ job });

export const createFirstMessages = (
  job: string,
  layout: Pick<InputMetadata, "chunks" | "checksums">,
): ChunkMessage[] =>
  toSlices(layout).map((slice, chunk) => ({ job, chunk, pass: 0, own: 0, ...slice }));
