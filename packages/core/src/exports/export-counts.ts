import type { World } from "../ports/world.ts";
import { countAllRows } from "./count-all-rows.ts";
import type { ExportOptions } from "./export-options.ts";
import { countExportRows, type ExportSummary } from "./exported-rows.ts";

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
