import * as v from "valibot";
import type { Item, Key, Table } from "../ports/table.ts";
import type { Job } from "../rows/items.ts";
import type { ResultPass } from "../rows/results.ts";

// Layout. The places of a deleted job's parts, until all parts are removed. The item replaces the job's own item in one
// transaction, so no reader finds the job afterwards, and the removal forgets no part. A list gets such an item before its
// first byte is written; the transaction that makes the list a job removes the item (new-job.ts).
//
//   pk              sk        what
//   DELETION#<job>  DELETION         the owner, the blobs and the number of chunks; due until nothing can be left
//   DELETION#<job>  PASS#<n>#<token>  a pass of chunk n whose pages were removed; its evidence may still come

export const DELETION = "deletion";

const Deletion = v.object({
  job: v.string(),
  owner: v.string(),
  /** The number of chunks: the pages of a chunk without an outcome are found only by the chunk's number. */
  chunks: v.number(),
  /** The claim of the job's Idempotency-Key, whose answer quotes cells of the list. */
  claim: v.nullable(v.object({ pk: v.string(), sk: v.string() })),
  /** The blobs of the list. */
  blobs: v.array(v.string()),
  /** The time at which the first removal of all parts ended. */
  removedAt: v.optional(v.string()),
});

export type Deletion = Readonly<v.InferOutput<typeof Deletion>>;

const toPartition = (job: string): string => `DELETION#${job}`;

export const toDeletionKey = (job: string): Key => ({ pk: toPartition(job), sk: "DELETION" });

export const toDeletionItem = (deletion: Deletion): Item => ({
  ...toDeletionKey(deletion.job),
  ...deletion,
});

export const readDeletion = (item: Item): Deletion => v.parse(Deletion, item);

export const findDeletion = async (table: Table, job: string): Promise<Deletion | undefined> => {
  const item = await table.get(toDeletionKey(job));
  return item && readDeletion(item);
};

/** Counts chunks: a job of one address has one, without a chunk size. */
export const countChunks = ({ total, chunkRows }: Pick<Job, "total" | "chunkRows">): number =>
  chunkRows > 0 ? Math.ceil(total / chunkRows) : 1;

const PASS = "PASS#";
const Pass = v.object({ job: v.string(), chunk: v.number(), token: v.string() });

export const toPassItem = ({ job, chunk, token }: ResultPass): Item => ({
  pk: toPartition(job),
  sk: `${PASS}${chunk}#${token}`,
  job,
  chunk,
  token,
});

export const toPassesQuery = (job: string) => ({ pk: toPartition(job), sk: { prefix: PASS } });

export const readPass = (item: Item): ResultPass => v.parse(Pass, item);
