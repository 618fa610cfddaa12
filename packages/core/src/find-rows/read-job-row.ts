import type { World } from "../ports/world.ts";
import { findJob, type Job } from "../rows/items.ts";
import { PAGE_ROWS, readPage, toPageKey, unpackRow, type VerifiedRow } from "../rows/results.ts";
import { findEvidence } from "../rows/row-evidence.ts";
import { findRow, readPieces } from "../rows/row-index.ts";
import type { FoundRow } from "./select-rows.ts";

/** Concurrent reads: each is a request on AWS, and unpacking 25 pages takes about 10 ms. */
const READS_AT_ONCE = 25;

/** Returns these rows in this order, without rows whose page was deleted meanwhile. */
export const readSelectedRows = async <F extends FoundRow>(
  { table, sleep }: Pick<World, "table" | "sleep">,
  job: string,
  found: readonly F[],
): Promise<readonly (F & VerifiedRow)[]> => {
  const rows = new Map<F, VerifiedRow>();
  const pages = [...Map.groupBy(found, toPageName).values()];
  for (let from = 0; from < pages.length; from += READS_AT_ONCE) {
    if (from > 0) await sleep(0);
    await Promise.all(
      pages.slice(from, from + READS_AT_ONCE).map(async (wanted) => {
        const [{ chunk, token, at }] = wanted as [F, ...F[]];
        const page = await table.get(toPageKey({ job, chunk, token }, Math.floor(at / PAGE_ROWS)));
        const packed = page ? readPage(page) : [];
        // Rows sorted by score may be on a thousand pages, so memory holds only these rows.
        for (const one of wanted) {
          const own = packed[one.at % PAGE_ROWS];
          if (own) rows.set(one, unpackRow(own));
        }
      }),
    );
  }
  return found.flatMap((one) => {
    const row = rows.get(one);
    return row ? [{ ...one, ...row }] : [];
  });
};

const toPageName = ({ chunk, token, at }: FoundRow): string =>
  `${chunk}#${token}#${Math.floor(at / PAGE_ROWS)}`;

/** Reads the result of one row with the stored part of its evidence. Undefined when the row does not exist or has no result. */
export const readJobRow = async (
  world: Pick<World, "table" | "blobs" | "now" | "sleep">,
  job: Job,
  row: number,
): Promise<(VerifiedRow & { readonly chunk: number }) | undefined> => {
  const pieces = await readPieces(world.table, job);
  const found = pieces.flatMap((piece) => {
    const at = findRow(piece, row);
    const { chunk, token, child } = piece;
    return at === undefined ? [] : [{ chunk, token, at, row, child }];
  })[0];
  if (!found) return undefined;
  const [stored] = await readSelectedRows(world, job.id, [found]);
  if (!stored || stored.result.evidence) return stored;
  // A child stores the evidence of its own results; its rows have the parent's numbers.
  const child = found.child === undefined ? undefined : await findJob(world.table, found.child);
  const evidence = child
    ? (await readJobRow(world, child, row))?.result.evidence
    : await findEvidence(world, { ...found, job: job.id }, stored);
  return evidence ? { ...stored, result: { ...stored.result, evidence } } : stored;
};
