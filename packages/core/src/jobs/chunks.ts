import * as v from "valibot";
import { everyItem } from "../every-item.ts";
import type { Item, Key, Table, Write } from "../table.ts";

// Layout. What became of a chunk: one item, created once and never changed. Whoever creates it first decides, so no
// address is both verified and given back.
//
//   pk            sk               what
//   CHUNKS#<job>  <five digits>    outcome

const Chunk = v.object({
  sk: v.string(),
  outcome: v.picklist(["done", "refunded"]),
  rows: v.number(),
});

export type Outcome = v.InferOutput<typeof Chunk>["outcome"];

export const chunkKey = (job: string, chunk: number): Key => ({
  pk: `CHUNKS#${job}`,
  sk: String(chunk).padStart(5, "0"),
});

export const endChunk = (
  job: string,
  chunk: number,
  outcome: Outcome,
  { rows, expiresAt }: { readonly rows: number; readonly expiresAt: number },
): Write => ({ create: { ...chunkKey(job, chunk), outcome, rows, expires_at: expiresAt } });

/** The chunks whose results can be read, in their order, from this one on. */
export async function* chunksDone(table: Table, job: string, from: number): AsyncGenerator<number> {
  const { pk, sk } = chunkKey(job, from);
  for await (const item of everyItem(table, { pk, sk: { from: sk, to: "99999" } })) {
    const { sk: chunk, outcome } = readChunk(item);
    if (outcome === "done") yield Number(chunk);
  }
}

const readChunk = (item: Item) => v.parse(Chunk, item);
