import { areExcludedReadable } from "../intake/excluded-rows.ts";
import { isInputReadable } from "../intake/input-blob.ts";
import { Failure } from "../lib/failure.ts";
import type { World } from "../ports/world.ts";
import { findInputMetadata } from "../rows/input-metadata.ts";
import type { ExportOptions } from "./export-options.ts";
import { countExportRows, type ExportRowCounts, type ExportSummary } from "./exported-rows.ts";

export type ExportCounts = {
  /** True when the job is completed and every counted row is readable. */
  readonly complete: boolean;
  readonly expected: number;
  readonly missing: number;
  readonly pending: number;
};

export const countExport = async (
  world: Pick<World, "table" | "blobs" | "sleep" | "callers">,
  readable: ExportSummary,
  wanted: Pick<ExportOptions, "filter" | "text" | "selection">,
): Promise<ExportCounts> => {
  const { job, missing: unreadable, pending } = readable;
  const { expected, missing } =
    wanted.selection === "all"
      ? await countAllRows(world, readable)
      : await countExportRows(world, readable, wanted);
  return { complete: job.status === "completed" && unreadable === 0, expected, missing, pending };
};

/**
 * Counts the rows of an export of the whole list. The excluded rows are stored next to the job's input; without either, such an
 * export is not possible.
 */
const countAllRows = async (
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
