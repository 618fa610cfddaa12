import { rmSync } from "node:fs";
import { join } from "node:path";
import { toCountFile } from "../storage/commit-count.ts";
import { MARKER } from "../storage/state-folder.ts";
import { COPIES } from "../storage/upgrade-copies.ts";

/** Every file that a server stores in its folder, by name: the folder may contain other files. */
const STATE_FILES = ["state.sqlite", "queue.sqlite"]
  .flatMap((file) => [file, `${file}-wal`, `${file}-shm`, toCountFile(file)])
  .concat("blobs", "secrets.json", "demo.json", "ready.json", MARKER, COPIES);

export const resetState = (directory: string): void => {
  for (const name of STATE_FILES) rmSync(join(directory, name), { recursive: true, force: true });
};
