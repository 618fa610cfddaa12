import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fileBlobs } from "@mailproof/local/file-blobs";
import type { TakenIn } from "./intake/take-in.ts";
import { bytesOf, type ListCounts, listOf, mixedDomain } from "./list-generator.ts";
import { held, type Measured, median } from "./report.ts";

// A large upload as the local product takes it in: read from its blob, written as the input of a job. Every run
// is a process of its own, for it begins cold and its memory is its own.

const RUNS = 3;
const UPLOAD = "uploads/list.csv";
const SHAPE = {
  seed: 1,
  rows: 500_000,
  duplicatePercent: 6,
  invalidPercent: 3,
  domain: mixedDomain,
};

export const run = async (): Promise<readonly Measured[]> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  try {
    const blobs = fileBlobs(folder, () => "");
    let counts: ListCounts | undefined;
    const { bytes } = await blobs.put(
      UPLOAD,
      bytesOf(listOf(SHAPE), (counted) => {
        counts = counted;
      }),
    );
    const runs: TakenIn[] = [];
    for (let number = 0; number < RUNS; number += 1) runs.push(await takeIn(folder, ""));
    const { stallMs } = await takeIn(folder, "watched");
    runs.forEach((one) => assertCounts(one, counts));

    const list = `a list of ${SHAPE.rows.toLocaleString("en")} rows`;
    const seconds = median(runs.map((one) => one.seconds));
    return [
      { what: list, value: bytes / 1e6, unit: "MB" },
      held("intakeSeconds", seconds),
      { what: "rows", value: SHAPE.rows / seconds, unit: "per second" },
      held("intakeMemory", Math.max(...runs.map((one) => one.peakMegabytes))),
      {
        what: "its processor time, user and system",
        value: median(runs.map((one) => one.cpuSeconds)),
        unit: "seconds",
      },
      { what: "the longest that others had to wait", value: stallMs, unit: "ms" },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const takeIn = async (folder: string, watched: "watched" | ""): Promise<TakenIn> => {
  const file = fileURLToPath(new URL("intake/take-in.ts", import.meta.url));
  const child = fork(file, [folder, UPLOAD, watched]);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`A run ended early, with code ${code}.`);
  });
  const [came] = (await Promise.race([once(child, "message"), ended])) as [TakenIn];
  return came;
};

const assertCounts = (came: TakenIn, counts: ListCounts | undefined): void => {
  const { rows, duplicates, invalid, unique } = came;
  const found = JSON.stringify({ rows, duplicates, invalid, unique });
  if (found !== JSON.stringify(counts))
    throw new Error(`The list holds ${JSON.stringify(counts)}, and ${found} came of it.`);
};
