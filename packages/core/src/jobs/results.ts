import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as v from "valibot";
import type { Item, Json, Key } from "../table.ts";
import { type Packed, pack, unpack } from "../verify/packed.ts";
import type { Verification } from "../verify/result.ts";

// A page is one item with up to a hundred results, deflated: a tenth of the writes and a tenth of the bytes of an
// item each. Every chunk has a partition of its own, so a great job has no hot one.

/** `row` is where the address stood: in the file (its header counted), or in the list that was sent. */
export type Row = { readonly row: number; readonly result: Verification };

export const PAGE_ROWS = 100;

const LEVEL = 3;

export const pageKey = (job: string, chunk: number, page: number): Key => ({
  pk: `RESULTS#${job}#${chunk}`,
  sk: String(page).padStart(4, "0"),
});

export const pageItem = (
  place: { readonly job: string; readonly chunk: number; readonly page: number },
  rows: readonly Row[],
  expiresAt: number,
): Item => {
  const packed: Json = rows.map(({ row, result }) => [row, pack(result)]);
  return {
    ...pageKey(place.job, place.chunk, place.page),
    rows: deflateRawSync(JSON.stringify(packed), { level: LEVEL }).toString("base64"),
    expires_at: expiresAt,
  };
};

export const readPage = (item: Item): readonly Row[] => {
  const json = inflateRawSync(Buffer.from(v.parse(v.string(), item["rows"]), "base64")).toString();
  const packed = JSON.parse(json) as readonly (readonly [number, Packed])[];
  return packed.map(([row, result]) => ({ row, result: unpack(result) }));
};
