import type { World } from "../ports/world.ts";
import { findJob, type Job } from "../rows/items.ts";
import type { VerifiedRow } from "../rows/results.ts";
import { findEvidence } from "../rows/row-evidence.ts";
import { findRow, readPieces } from "../rows/row-index.ts";
import { readSelectedRows } from "./read-selected-rows.ts";

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
