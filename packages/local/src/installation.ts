import { basename } from "node:path";
import { getAsset, isSea } from "node:sea";
import { Worker } from "node:worker_threads";

// A clone runs these sources. The package and the executable run what scripts/build.ts made of them.

const isClone = import.meta.url.endsWith(".ts");

/** The commands as the reader of a message has to type them. */
export const PROGRAM = isClone ? "npx mailproof" : "mailproof";
export const START = isClone ? "npm start" : "mailproof start";
export const START_AFRESH = isClone ? "npm start -- --fresh" : "mailproof start --fresh";

/** Runs the module in a thread. `source` is its file in a clone; the package has it beside its program. */
export const startThread = (source: URL, workerData: unknown): Worker => {
  if (isClone) return new Worker(source, { workerData });
  const file = basename(source.pathname).replace(/\.ts$/, ".cjs");
  // The executable has no files: its threads are texts inside it.
  return isSea()
    ? new Worker(getAsset(file, "utf8"), { eval: true, workerData })
    : new Worker(new URL(file, import.meta.url), { workerData });
};
