import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { createFinishedJob } from "./export/finished-job.ts";
import { CSV, type ExportFigures, measureExport, ROWS } from "./export/measure.ts";
import { computeMedian, createRow, type ReportRow } from "./report.ts";

// The results of a large job as a caller downloads them: over HTTP, from a server in its own process, for it
// begins cold and its memory is its own. Nothing is verified here; the job's results are put where they belong.

const RUNS = 3;

export const run = async (): Promise<readonly ReportRow[]> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  try {
    const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
    const exportJob = await createFinishedJob(world, ROWS);
    close();
    const runs: ExportFigures[] = [];
    for (let number = 0; number < RUNS; number += 1)
      runs.push(await measureExport(folder, exportJob, CSV));

    const seconds = computeMedian(runs.map((one) => one.seconds));
    const megabytes = (runs[0]?.bytes ?? 0) / 1e6;
    return [
      { what: `${ROWS.toLocaleString("en")} rows as CSV`, value: megabytes, unit: "MB" },
      createRow("exportFirst", computeMedian(runs.map((one) => one.firstByteMs))),
      { what: "all of it", value: seconds, unit: "seconds" },
      createRow("exportRate", ROWS / seconds),
      createRow("exportMemory", Math.max(...runs.map((one) => one.grownMegabytes))),
      {
        what: "the longest that others had to wait",
        value: computeMedian(runs.map((one) => one.stallMs)),
        unit: "ms",
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
};
