import * as v from "valibot";
import { toSlices } from "../intake/input-blob.ts";
import { getOwnerId, toQueueGroup } from "../money/payer.ts";
import type { SendOutcome } from "../ports/queue.ts";
import type { World } from "../ports/world.ts";
import type { InputMetadata } from "./input-metadata.ts";
import type { Job } from "./items.ts";

/** A message only points to its rows, so it may arrive twice, and late. `pass`: the number of earlier passes. */
const ChunkMessage = v.object({
  job: v.string(),
  chunk: v.number(),
  pass: v.number(),
  from: v.number(),
  to: v.number(),
  /** The CRC-32 of these bytes. */
  checksum: v.number(),
});

export type ChunkMessage = Readonly<v.InferOutput<typeof ChunkMessage>>;

export const readChunkMessage = (body: unknown): ChunkMessage => v.parse(ChunkMessage, body);

/**
 * `concurrency` is in rows. One account alone may use half of it: ten chunks of a file, which fill the sessions of an
 * engine. While the thread is busy, two chunks of a file are enough work. A pass over a chunk takes 12 minutes at most.
 */
export const CHUNKS_QUEUE = {
  name: "chunks",
  visibilitySeconds: 960,
  receivesMax: 12,
  concurrency: 10_000,
  concurrencyWhenBusy: 1_000,
};

/** The fields of a job that decide the weight of its messages. */
export type JobSize = Pick<Job, "account" | "mode" | "total" | "chunkRows">;

export type ChunkSendOptions = {
  readonly delaySeconds?: number;
  /** How many rows this pass attempts. Absent: every row of the chunk. */
  readonly rows?: number;
};

/** One outcome for each message. */
export const sendChunks = (
  world: Pick<World, "queue">,
  job: JobSize,
  messages: readonly ChunkMessage[],
  { delaySeconds = 0, rows }: ChunkSendOptions = {},
): Promise<readonly SendOutcome[]> =>
  world.queue.sendMany(
    CHUNKS_QUEUE.name,
    messages.map((body) => ({
      body,
      delaySeconds,
      ...toQueueGroup(getOwnerId(job)),
      weight: Math.max(1, rows ?? countRowsIn(job, body)),
      order: rows ?? job.total,
    })),
  );

/** The last chunk may have fewer than the others. */
const countRowsIn = ({ total, chunkRows }: JobSize, { chunk }: ChunkMessage): number =>
  Math.min(chunkRows, total - chunk * chunkRows);

/** The first pass over every chunk. */
export const createFirstMessages = (
  job: string,
  layout: Pick<InputMetadata, "chunks" | "checksums">,
): ChunkMessage[] => toSlices(layout).map((slice, chunk) => ({ job, chunk, pass: 0, ...slice }));
