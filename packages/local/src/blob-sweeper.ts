import type { Dirent } from "node:fs";
import { lstat, opendir, rm } from "node:fs/promises";
import { join } from "node:path";
import { BLOBS_KEPT_DAYS } from "@mailproof/core/blobs";
import { DAY_MS } from "@mailproof/core/moments";
import type { Schedule } from "@mailproof/core/worker";
import { orAbsent } from "./file-blobs.ts";

// Bounded, so that a great many files never keep the service from its callers. 60 runs are an hour.
const FILES_MAX = 2_000;

/** As fileBlobs names them: 256 folders of hashes. Whatever else lies there is not ours. */
const FOLDERS = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, "0"));
const FILE = /^[0-9a-f]{64}(?:\.blob)?$/;

const PLACES = Object.entries(BLOBS_KEPT_DAYS).flatMap(([beginning, days]) =>
  FOLDERS.map((folder) => ({ path: join(beginning, folder), days })),
);

/** S3 ends what is past its days by rules of its own; a folder has to be told. Each run goes on where one stopped. */
export const blobSweeper = (directory: string, filesMax = FILES_MAX): Schedule => {
  let at = 0;
  return {
    name: "remove files past their days",
    everySeconds: 60,
    async run({ now }) {
      let looked = 0;
      for (let count = 0; count < PLACES.length && looked < filesMax; count++) {
        const { path, days } = PLACES[at] ?? { path: "", days: Infinity };
        at = (at + 1) % PLACES.length;
        looked += await sweep(join(directory, path), now().getTime() - days * DAY_MS);
      }
    },
  };
};

/** How many files were looked at. */
const sweep = async (folder: string, beforeMs: number): Promise<number> => {
  const entries = await orAbsent(opendir(folder));
  let looked = 0;
  for await (const entry of entries ?? []) {
    if (!isBlob(entry)) continue;
    looked++;
    const file = join(folder, entry.name);
    const found = await orAbsent(lstat(file));
    if (found && found.mtimeMs < beforeMs) await rm(file, { force: true });
  }
  return looked;
};

const isBlob = (entry: Dirent): boolean => entry.isFile() && FILE.test(entry.name);
