import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { getAsset, isSea } from "node:sea";
import { type ResourceLimits, Worker } from "node:worker_threads";

// A clone runs these sources. The package and the executable run the output of scripts/build/build.ts.

export const isClone = import.meta.url.endsWith(".ts");

/** The executable may have any name and be in any folder, so messages use the name that the operator typed. */
const INSTALLED = isSea() ? process.argv0 : "mailproof";

export const PROGRAM = isClone ? "npx mailproof" : INSTALLED;
export const START = isClone ? "npm start" : `${INSTALLED} start`;
export const START_AFRESH = isClone ? "npm start -- --fresh" : `${INSTALLED} start --fresh`;

declare const COMMIT_OF_BUILD: string | null | undefined;

/** The commit that the package or the executable was built from; scripts/build sets it. Null when unknown. */
export const BUILD_COMMIT: string | null =
  typeof COMMIT_OF_BUILD === "string" ? COMMIT_OF_BUILD : null;

/** Runs the module in a thread. `source` is its file in a clone; the package has it next to its program. */
export const startThread = (
  source: URL,
  workerData: unknown,
  resourceLimits?: ResourceLimits,
): Worker => {
  const options = { workerData, ...(resourceLimits && { resourceLimits }) };
  if (isClone) return new Worker(source, options);
  const file = basename(source.pathname).replace(/\.ts$/, ".cjs");
  // The executable has no files: its threads are texts inside it.
  return isSea()
    ? new Worker(getAsset(file, "utf8"), { eval: true, ...options })
    : new Worker(new URL(file, import.meta.url), options);
};

const LICENCES = "LICENCES.txt";

/** Reads a text inside this package or executable, next to its program. A clone has no such text. */
export const readAsset = (name: string): string =>
  isSea() ? getAsset(name, "utf8") : readFileSync(new URL(name, import.meta.url), "utf8");

/** Returns the licences of every program and list in this installation. A clone's packages carry their own. */
export const readLicences = (): string =>
  isClone
    ? readFileSync(new URL("../../../docs/licences.md", import.meta.url), "utf8")
    : readAsset(LICENCES);
