import * as v from "valibot";
import type { Sent } from "../queue.ts";
import type { World } from "../world.ts";
import { slicesOf } from "./input-blob.ts";
import type { InputFacts } from "./input-facts.ts";

/** A message only points to its rows, so it may come twice, and late. `pass`: how many there were before. */
const ChunkMessage = v.object({
  job: v.string(),
  chunk: v.number(),
  pass: v.number(),
  from: v.number(),
  to: v.number(),
  /** Of these bytes. Messages of earlier releases have none. */
  checksum: v.optional(v.number()),
});

export type ChunkMessage = Readonly<v.InferOutput<typeof ChunkMessage>>;

export const readChunkMessage = (body: unknown): ChunkMessage => v.parse(ChunkMessage, body);

/** Ten chunks in hand fill the sessions of an engine; a pass over one has 12 minutes at the most. */
export const CHUNKS_QUEUE = { name: "chunks", visibilitySeconds: 960, receivesMax: 12, atOnce: 10 };

/** One outcome for each message. */
export const sendChunks = (
  world: Pick<World, "queue">,
  messages: readonly ChunkMessage[],
  delaySeconds = 0,
): Promise<readonly Sent[]> =>
  world.queue.sendMany(
    CHUNKS_QUEUE.name,
    messages.map((body) => ({ body, delaySeconds })),
  );

/** The first pass over every chunk. */
export const firstMessages = (
  job: string,
  { chunks, checksums }: Pick<InputFacts, "chunks" | "checksums">,
): ChunkMessage[] =>
  slicesOf(chunks, checksums).map((slice, chunk) => ({ job, chunk, pass: 0, ...slice }));
