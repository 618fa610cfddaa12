import { rmSync } from "node:fs";
import { join } from "node:path";
import { MARKER } from "./state-folder.ts";

/** Everything a server keeps in its folder. Named one by one: the folder may hold what is not ours. */
const OURS = ["state.sqlite", "queue.sqlite"]
  .flatMap((file) => [file, `${file}-wal`, `${file}-shm`])
  .concat("blobs", "secrets.json", "demo.json", "ready.json", MARKER);

export const forgetAll = (directory: string): void => {
  for (const name of OURS) rmSync(join(directory, name), { recursive: true, force: true });
};
