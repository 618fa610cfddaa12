import { globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { loadDashboard } from "@mailproof/local/server/dashboard-build";
import { findTools } from "../../scripts/tools.ts";
import { PACKAGE_FOLDER } from "../servers/package.ts";

const SOURCES = ["packages/**/*.{ts,tsx,js,mjs,json,css,txt}", "scripts/build/*.ts"];
/** The last file that is moved. */
const LAST = "package.json";

const getModifiedMs = (file: string): number =>
  statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const isFresh = (): boolean => {
  const builtMs = getModifiedMs(join(PACKAGE_FOLDER, LAST));
  const exclude = (name: string): boolean => name === "node_modules";
  return globSync(SOURCES, { exclude }).every((file) => getModifiedMs(file) < builtMs);
};

/** Builds the npm package if a source is newer. */
export const buildPackage = async (): Promise<void> => {
  if (isFresh()) return;
  const { writePackage } = await import("../../scripts/build/package.ts");
  const draft = `${PACKAGE_FOLDER}-${process.pid}`;
  await writePackage(draft);
  mkdirSync(PACKAGE_FOLDER, { recursive: true });
  const files = readdirSync(draft).toSorted((a, b) => Number(a === LAST) - Number(b === LAST));
  // One by one: a server of another run may use the folder.
  for (const file of files) renameSync(join(draft, file), join(PACKAGE_FOLDER, file));
  rmSync(draft, { recursive: true });
};

/**
 * Runs before the first test. A test that formats or compiles would otherwise pay for the tools' installation after a clone, and a hundred
 * servers that end early would each begin the dashboard's build.
 */
export const setup = async (): Promise<void> => {
  findTools();
  await loadDashboard(AbortSignal.timeout(300_000));
  await buildPackage();
};
