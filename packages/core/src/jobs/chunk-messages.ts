import * as v from "valibot";
import { BLOBS_KEPT_DAYS } from "../blobs.ts";
import { epochSeconds } from "../moments.ts";
import type { Sent } from "../queue.ts";
import type { Item, Table } from "../table.ts";
import type { World } from "../world.ts";
import { type Chunks, slicesOf } from "./input-blob.ts";
import { jobKey } from "./items.ts";

/** A message only points to its rows, so it may come twice, and late. `pass`: how many there were before. */
const ChunkMessage = v.object({
  job: v.string(),
  chunk: v.number(),
  pass: v.number(),
  from: v.number(),
  to: v.number(),
});

export type ChunkMessage = Readonly<v.InferOutput<typeof ChunkMessage>>;

export const readChunkMessage = (body: unknown): ChunkMessage => v.parse(ChunkMessage, body);

/** Ten chunks in hand fill the sessions of an engine; a pass over one has 12 minutes at the most. */
export const CHUNKS_QUEUE = { name: "chunks", visibilitySeconds: 960, receivesMax: 12, atOnce: 10 };

/** One outcome for each message. */
export const sendChunks = (
  world: Pick<World, "queue">,
  messages: readonly ChunkMessage[],
): Promise<readonly Sent[]> =>
  world.queue.sendMany(
    CHUNKS_QUEUE.name,
    messages.map((body) => ({ body })),
  );

const Input = v.object({
  chunks: v.array(v.number()),
  columns: v.array(v.string()),
  emailColumn: v.nullable(v.object({ name: v.string(), at: v.number() })),
  isAscii: v.boolean(),
});

/** Where the chunks of a job begin, and how the file looked that it came from. */
export type InputFacts = {
  readonly chunks: Chunks;
  /** The names of the other columns. */
  readonly columns: readonly string[];
  /** Where among all its columns the addresses stood, and under which name. Null: there was no file. */
  readonly emailColumn: { readonly name: string; readonly at: number } | null;
  readonly isAscii: boolean;
};

/** It is there as long as the lines it points to. */
export const inputItem = (job: string, facts: InputFacts, now: Date): Item => ({
  ...inputKey(job),
  ...facts,
  expires_at: epochSeconds(now) + BLOBS_KEPT_DAYS["inputs/"] * 86_400,
});

const inputKey = (job: string) => ({ ...jobKey(job), sk: "INPUT" });

export const findInput = async (table: Table, job: string): Promise<InputFacts> => {
  const item = await table.get(inputKey(job));
  if (!item) throw new Error(`the job ${job} has no input`);
  return v.parse(Input, item);
};

/** The first pass over every chunk. */
export const firstMessages = (
  job: string,
  { chunks }: Pick<InputFacts, "chunks">,
): ChunkMessage[] =>
  slicesOf(chunks).map(({ from, to }, chunk) => ({ job, chunk, pass: 0, from, to }));
