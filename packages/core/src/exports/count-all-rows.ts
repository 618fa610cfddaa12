import { areExcludedReadable } from "../intake/excluded-rows.ts";
import { isInputReadable } from "../intake/input-blob.ts";
import { Failure } from "../lib/failure.ts";
import type { World } from "../ports/world.ts";
import { findInputMetadata } from "../rows/input-metadata.ts";
import type { ExportRowCounts, ExportSummary } from "./exported-rows.ts";

/**
 * Counts the rows of an export of the whole list. The excluded rows are stored next to the job's input; without either, such an
 * export is not possible.
 */
export const countAllRows = async (
  { table, blobs }: Pick<World, "table" | "blobs">,
  { job, expected, missing, pending }: ExportSummary,
): Promise<ExportRowCounts> => {
  if (!job.input) return { expected, missing };
  const metadata = await findInputMetadata(table, job.id);
  const { excluded } = metadata;
  if (!(await isInputReadable(blobs, job.input, metadata))) throw createGoneFailure();
  if (excluded && !(await areExcludedReadable(blobs, excluded))) throw createGoneFailure();
  return {
    expected:
      expected + pending + job.refunds.no_result + job.refunds.cancelled + (excluded?.rows ?? 0),
    missing,
  };
};

const createGoneFailure = (): Failure =>
  new Failure(
    "NOT_FOUND",
    "nothing_charged",
    "The rows of this job's list are no longer stored; omit rows to export those with a result.",
  );
