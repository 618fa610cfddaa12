import { areExcludedReadable } from "../intake/excluded-rows.ts";
import { isInputReadable } from "../intake/input-blob.ts";
import { findInputMetadata } from "../jobs/input-metadata.ts";
import { Failure } from "../lib/failure.ts";
import type { World } from "../ports/world.ts";
import type { ExportRowCounts, ExportSummary } from "./exported-rows.ts";

/**
 * How many rows an export of every row of the list has. The excluded rows stand beside the input of the job: a job
 * without an input has none, and without them there is no such export.
 */
export const countAllRows = async (
  { table, blobs }: Pick<World, "table" | "blobs">,
  { job, expected, missing, pending }: ExportSummary,
): Promise<ExportRowCounts> => {
  if (!job.input) return { expected, missing };
  const metadata = await findInputMetadata(table, job.id);
  const { hasEmailCells, excluded } = metadata;
  if (!hasEmailCells || !(await isInputReadable(blobs, job.input, metadata)))
    throw createGoneFailure();
  if (excluded && !(await areExcludedReadable(blobs, excluded))) throw createGoneFailure();
  return { expected: expected + pending + job.refunded + (excluded?.rows ?? 0), missing };
};

const createGoneFailure = (): Failure =>
  new Failure(
    "NOT_FOUND",
    "nothing_charged",
    "The rows of this job's list are no longer stored; leave rows out for those with a result.",
  );
