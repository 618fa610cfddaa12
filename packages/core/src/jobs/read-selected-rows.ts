import type { Table } from "../ports/table.ts";
import {
  PAGE_ROWS,
  type PackedRow,
  readPage,
  toPageKey,
  unpackRow,
  type VerifiedRow,
} from "./results.ts";
import { type FoundRow } from "./select-rows.ts";

/** Reads at the same time: each is a request on AWS. */
const READS_AT_ONCE = 50;

/** A row with the chunk of the input that has its cells. */
export type LocatedRow = VerifiedRow & { readonly chunk: number };

/** These rows, in this order. A row is left out if its page was deleted meanwhile. */
export const readSelectedRows = async (
  table: Table,
  job: string,
  found: readonly FoundRow[],
): Promise<readonly LocatedRow[]> => {
  const pages = new Map<string, readonly PackedRow[]>();
  const keys = new Map(found.map((row) => [toPageName(row), row]));
  const wanted = [...keys];
  for (let from = 0; from < wanted.length; from += READS_AT_ONCE)
    await Promise.all(
      wanted.slice(from, from + READS_AT_ONCE).map(async ([name, row]) => {
        const { chunk, token, at } = row;
        const page = await table.get(toPageKey({ job, chunk, token }, Math.floor(at / PAGE_ROWS)));
        if (page) pages.set(name, readPage(page));
      }),
    );
  return found.flatMap((row) => {
    const packed = pages.get(toPageName(row))?.[row.at % PAGE_ROWS];
    return packed ? [{ ...unpackRow(packed), chunk: row.chunk }] : [];
  });
};

const toPageName = ({ chunk, token, at }: FoundRow): string =>
  `${chunk}#${token}#${Math.floor(at / PAGE_ROWS)}`;
