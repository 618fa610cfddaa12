import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { createFinishedJob } from "./export/finished-job.ts";
import type { ServerFigures } from "./export/server-process.ts";
import { computeMedian, createRow, type ReportRow } from "./report.ts";

// The results of a large job as a caller downloads them: over HTTP, from a server in a process of its own, for it
// begins cold and its memory is its own. Nothing is verified here; the job's results are put where they belong.

const RUNS = 3;
const ROWS = 500_000;

export const run = async (): Promise<readonly ReportRow[]> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  try {
    const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
    const exportJob = await createFinishedJob(world, ROWS);
    close();
    const runs: ExportFigures[] = [];
    for (let number = 0; number < RUNS; number += 1)
      runs.push(await measureExport(folder, exportJob));

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

type ExportFigures = {
  readonly firstByteMs: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly grownMegabytes: number;
  readonly stallMs: number;
};

const measureExport = async (
  folder: string,
  { job, key }: { readonly job: string; readonly key: string },
): Promise<ExportFigures> => {
  const child = fork(fileURLToPath(new URL("export/server-process.ts", import.meta.url)), [folder]);
  const receiveMessage = async (): Promise<ServerFigures> => {
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`The server ended early, with code ${code}.`);
    });
    const [message] = (await Promise.race([once(child, "message"), ended])) as [ServerFigures];
    return message;
  };
  const { baseUrl, peakMegabytes: before } = await receiveMessage();

  const startedAt = performance.now();
  const answer = await fetch(`${baseUrl}/v1/jobs/${job}/download`, {
    headers: { "x-api-key": key },
  });
  if (answer.status !== 200 || !answer.body) throw new Error(await answer.text());
  let firstByteMs: number | undefined;
  let [bytes, lines] = [0, 0];
  for await (const piece of answer.body) {
    firstByteMs ??= performance.now() - startedAt;
    bytes += piece.length;
    lines += countLines(piece);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  if (lines !== ROWS + 1) throw new Error(`Of ${ROWS} rows and a header ${lines} lines came.`);

  child.send("stop");
  const { peakMegabytes, stallMs } = await receiveMessage();
  await once(child, "exit");
  const grownMegabytes = peakMegabytes - before;
  return { firstByteMs: firstByteMs ?? 0, seconds, bytes, grownMegabytes, stallMs };
};

const LINE_FEED = 10;

const countLines = (piece: Uint8Array): number => {
  let lines = 0;
  for (let at = piece.indexOf(LINE_FEED); at >= 0; at = piece.indexOf(LINE_FEED, at + 1)) lines++;
  return lines;
};
