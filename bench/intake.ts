import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFileBlobs } from "@mailproof/local/storage/file-blobs";
import type { IntakeFigures } from "./intake/intake-process.ts";
import { generateList, type ListCounts, pickDomain, toBytes } from "./list-generator.ts";
import { receiveMessage } from "./receive-message.ts";
import { computeMedian, createRow, type ReportRow } from "./report.ts";

// A large upload as the local product takes it in: read from its blob, written as the input of a job. Every run
// is its own process, for it begins cold and its memory is its own.

const RUNS = 3;
const UPLOAD = "uploads/list.csv";
const SHAPE = {
  seed: 1,
  rows: 500_000,
  duplicatePercent: 6,
  invalidPercent: 3,
  domain: pickDomain,
};

export const run = async (): Promise<readonly ReportRow[]> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  try {
    const blobs = createFileBlobs(folder, () => "");
    let counts: ListCounts | undefined;
    const { bytes } = await blobs.put(
      UPLOAD,
      toBytes(generateList(SHAPE), (counted) => {
        counts = counted;
      }),
    );
    const runs: IntakeFigures[] = [];
    for (let number = 0; number < RUNS; number += 1) runs.push(await runIntake(folder, ""));
    const { stallMs } = await runIntake(folder, "watched");
    runs.forEach((one) => assertCounts(one, counts));

    const list = `a list of ${SHAPE.rows.toLocaleString("en")} rows`;
    const seconds = computeMedian(runs.map((one) => one.seconds));
    return [
      { what: list, value: bytes / 1e6, unit: "MB" },
      createRow("intakeSeconds", seconds),
      { what: "rows", value: SHAPE.rows / seconds, unit: "per second" },
      createRow("intakeMemory", Math.max(...runs.map((one) => one.peakMegabytes))),
      {
        what: "its processor time, user and system",
        value: computeMedian(runs.map((one) => one.cpuSeconds)),
        unit: "seconds",
      },
      { what: "the longest that others had to wait", value: stallMs, unit: "ms" },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const runIntake = async (folder: string, watched: "watched" | ""): Promise<IntakeFigures> => {
  const file = fileURLToPath(new URL("intake/intake-process.ts", import.meta.url));
  return receiveMessage<IntakeFigures>(fork(file, [folder, UPLOAD, watched]));
};

const assertCounts = (result: IntakeFigures, counts: ListCounts | undefined): void => {
  const { rows, duplicates, invalid, unique } = result;
  const found = JSON.stringify({ rows, duplicates, invalid, unique });
  if (found !== JSON.stringify(counts))
    throw new Error(`The list holds ${JSON.stringify(counts)}, and ${found} came of it.`);
};
