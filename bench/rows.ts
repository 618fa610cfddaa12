import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { send } from "../test/app/send.ts";
import { createFinishedJob } from "./export/finished-job.ts";
import { ROWS } from "./export/measure.ts";
import { createRow, type ReportRow } from "./report.ts";

// A table of a large job as a screen shows it: filtered, searched, sorted, from its middle. Each request is counted in
// processor time from its first line to the whole response, the least of some, which other programs on the machine
// disturb least. SQLite is read in this thread, so an idle machine takes the same time. Nothing is kept between requests.

const RUNS = 15;

const REQUESTS = {
  rowsSummary: { include_results: "false" },
  rowsFilter: { filter: "status:catch_all,status:role" },
  rowsScore: { sort: "-score" },
  rowsMiddle: { sort: "-score", skip: "250000" },
  rowsEmail: { sort: "email" },
  rowsText: { q: "smith" },
  rowsRare: { q: "smith4711" },
  rowsAll: { filter: "status:valid", q: "gmail.com", sort: "-email" },
} as const;

const readProcessorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

export const run = async (): Promise<readonly ReportRow[]> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
  try {
    const { job, key } = await createFinishedJob(world, ROWS);
    const rows: ReportRow[] = [];
    for (const [line, query] of Object.entries(REQUESTS)) {
      const times: number[] = [];
      for (let number = 0; number < RUNS; number++) {
        const before = readProcessorMs();
        const { statusCode, text } = await send(world, `GET /v1/jobs/${job}`, { key, query });
        times.push(readProcessorMs() - before);
        if (statusCode !== 200) throw new Error(text);
      }
      rows.push(createRow(line as keyof typeof REQUESTS, Math.min(...times)));
    }
    return rows;
  } finally {
    close();
    rmSync(folder, { recursive: true });
  }
};
