import { lstat, opendir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readIncident } from "@mailproof/core/background/incidents";
import { DAY_MS } from "@mailproof/core/lib/time";
import { BLOB_RETENTION_DAYS } from "@mailproof/core/ports/blobs";
import type { Schedule } from "@mailproof/core/runtime/worker";
import { ignoreMissing } from "../storage/file-blobs.ts";
import type { SqliteTable } from "../storage/sqlite-table.ts";

const BATCH = 1_000;
// Bounded, so that a large number of expired items never delays callers.
const BATCHES_MAX = 50;

/** DynamoDB deletes expired items automatically; SQLite does not. */
export const createSweeper = (table: SqliteTable): Schedule => ({
  name: "sweep expired items",
  everySeconds: 60,
  async run(world) {
    // Items that expired by a clock jump survive when somebody corrects the clock within the hour.
    if ((await readIncident(world, "clock_jumped")) !== 0) return;
    for (let batch = 0; batch < BATCHES_MAX; batch++)
      if ((await table.sweep(BATCH)) < BATCH) return;
  },
});

// Bounded, so that a large number of files never delays callers. 60 runs are an hour.
const FILES_MAX = 2_000;

/** The names that createFileBlobs gives: 256 folders of hashes. All other files belong to other programs. */
const FOLDERS = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, "0"));
const FILE = /^[0-9a-f]{64}(?:\.blob)?$/;

const SWEPT_FOLDERS = Object.entries(BLOB_RETENTION_DAYS).flatMap(([prefix, days]) =>
  FOLDERS.map((folder) => ({ path: join(prefix, folder), days })),
);

/** Deletes expired blobs of a folder, as S3's own rules do for a bucket. Each run continues where the last run stopped. */
export const createBlobSweeper = (directory: string, filesMax = FILES_MAX): Schedule => {
  let at = 0;
  return {
    name: "remove files past their days",
    everySeconds: 60,
    async run({ now }) {
      let checked = 0;
      for (let count = 0; count < SWEPT_FOLDERS.length && checked < filesMax; count++) {
        const { path, days } = SWEPT_FOLDERS[at] ?? { path: "", days: Infinity };
        at = (at + 1) % SWEPT_FOLDERS.length;
        checked += await sweep(join(directory, path), now().getTime() - days * DAY_MS);
      }
    },
  };
};

/** Returns how many files the run examined. */
const sweep = async (folder: string, beforeMs: number): Promise<number> => {
  const entries = await ignoreMissing(opendir(folder));
  let checked = 0;
  for await (const entry of entries ?? []) {
    if (!entry.isFile() || !FILE.test(entry.name)) continue;
    checked++;
    const file = join(folder, entry.name);
    const found = await ignoreMissing(lstat(file));
    if (found && found.mtimeMs < beforeMs) await rm(file, { force: true });
  }
  return checked;
};
