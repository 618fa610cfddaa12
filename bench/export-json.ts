import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AppWorld } from "@mailproof/core/app-world";
import { removeExports } from "@mailproof/core/exports/remove-exports";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { createFinishedJob } from "./export/finished-job.ts";
import {
  CSV,
  type ExportFigures,
  type ExportFormat,
  measureExport,
  ROWS,
} from "./export/measure.ts";
import { computeMedian, createRow, type ReportRow } from "./report.ts";

// The results of a large job as JSON: the request waits until a worker has made the file, which is then downloaded. Work is
// counted in processor time, which other programs on the machine disturb least, and the CSV is measured beside it.

const RUNS = 2;

export const run = async (): Promise<readonly ReportRow[]> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  try {
    const exportJob = await withWorld(folder, (world) => createFinishedJob(world, ROWS));
    const json: ExportFigures[] = [];
    const csv: ExportFigures[] = [];
    for (let number = 0; number < RUNS; number += 1) {
      csv.push(await measureExport(folder, exportJob, CSV));
      json.push(await measureExport(folder, exportJob, JSON_FILE));
      await withWorld(folder, (world) => removeExports(world, exportJob.job));
    }
    const work = getMedian(json, "processorSeconds");
    return [
      {
        what: `${ROWS.toLocaleString("en")} rows as JSON`,
        value: (json[0]?.bytes ?? 0) / 1e6,
        unit: "MB",
      },
      {
        what: "its file is complete",
        value: getMedian(json, "firstByteMs") / 1_000,
        unit: "seconds",
      },
      { what: "all of it", value: getMedian(json, "seconds"), unit: "seconds" },
      createRow("exportJsonWork", work),
      createRow("exportJsonRatio", work / getMedian(csv, "processorSeconds")),
      {
        what: "memory on top, at its peak",
        value: Math.max(...json.map((one) => one.grownMegabytes)),
        unit: "MB",
      },
      {
        what: "the longest that others had to wait",
        value: getMedian(json, "stallMs"),
        unit: "ms",
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const getMedian = (runs: readonly ExportFigures[], figure: keyof ExportFigures): number =>
  computeMedian(runs.map((one) => one[figure]));

const withWorld = async <T>(folder: string, use: (world: AppWorld) => Promise<T>): Promise<T> => {
  const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
  try {
    return await use(world);
  } finally {
    close();
  }
};

const POLL_MS = 250;

/** A line has the metadata, and another one the end. */
const JSON_FILE: ExportFormat = {
  lines: ROWS + 2,
  request: async (url, headers) => {
    for (;;) {
      const answer = await fetch(`${url}?format=json`, { headers });
      if (answer.status !== 200 && answer.status !== 409) return answer;
      const { download_url } = (await answer.json()) as { readonly download_url?: string };
      if (download_url !== undefined) return fetch(download_url);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  },
};
