import { monitorEventLoopDelay } from "node:perf_hooks";
import { ingestFile } from "@mailproof/core/intake/ingest";
import { CHUNK_ROWS } from "@mailproof/core/ports/settings";
import { createFileBlobs } from "@mailproof/local/storage/file-blobs";
import type { ListCounts } from "../list-generator.ts";

// One intake in its own process. It is given the upload, and reports its figures.

export type IntakeFigures = ListCounts & {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
  readonly stallMs: number;
};

const measureIntake = async (
  folder: string,
  key: string,
  isWatched: boolean,
): Promise<IntakeFigures> => {
  const blobs = createFileBlobs(folder, () => "");
  const delay = monitorEventLoopDelay({ resolution: 1 });
  // Looking a thousand times a second takes a tenth of the time that is to be measured.
  if (isWatched) delay.enable();
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  const upload = await blobs.get(key);
  if (!upload) throw new Error("There is no list to take in.");
  const world = { blobs, pause: () => undefined };
  const intake = await ingestFile(world, upload.content, {
    key: "inputs/list",
    addressesMax: 500_000,
    bytesMax: 100_000_000,
    rowsPerChunk: CHUNK_ROWS.file,
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  delay.disable();
  if ("fault" in intake) throw new Error(intake.message);
  return {
    rows: intake.totalSubmitted,
    duplicates: intake.duplicatesRemoved,
    invalid: intake.invalidSkipped,
    unique: intake.unique,
    seconds,
    cpuSeconds: (user + system) / 1e6,
    // In kilobytes on every platform.
    peakMegabytes: (process.resourceUsage().maxRSS * 1024) / 1e6,
    stallMs: delay.max / 1e6,
  };
};

const [, , folder = "", key = "", watched] = process.argv;
const result = await measureIntake(folder, key, watched === "watched");
process.send?.(result, () => process.exit());
