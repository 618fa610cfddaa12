import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isClone, readAsset } from "../installation.ts";
import { lowerPriority } from "../lower-priority.ts";

/** The output of packages/dashboard/build.ts: each file below /app/ as text, and compressed in base64. */
export type BuiltFiles = Readonly<
  Record<string, { readonly text: string; readonly br: string; readonly gzip: string }>
>;

/** The file's name, beside the program in a package and in the executable. */
export const DASHBOARD = "dashboard.json";

/** Loads the dashboard's files: from the installation, or in a clone from a build of its sources. */
export const loadDashboard = async (signal: AbortSignal): Promise<BuiltFiles> =>
  readFiles(isClone ? (readCached() ?? (await buildAndCache(signal))) : readAsset(DASHBOARD));

const readFiles = (json: string): BuiltFiles => (JSON.parse(json) as { files: BuiltFiles }).files;

const findRoot = (): string => fileURLToPath(new URL("../../../..", import.meta.url));

/** The inputs of the build: its own sources, the sources that it imports, and the versions of all packages. */
const SOURCES = [
  "packages/dashboard/{src/**/*,*.*}",
  "packages/{client,guard,mail}/src/**/*",
  "packages/core/src/{accounts,intake,lib,verify}/**/*",
  "package-lock.json",
];

/** The builds of other sources: a build's name contains a hash of its sources. */
const BUILT = `dashboard-${"?".repeat(16)}.json`;

const findCacheFile = (): string => {
  const root = findRoot();
  const hash = createHash("sha256");
  const entries = globSync(SOURCES, { cwd: root, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) hash.update(`${file}\n`).update(readFileSync(file));
  return join(root, ".cache", `dashboard-${hash.digest("hex").slice(0, 16)}.json`);
};

const readCached = (): string | undefined => {
  try {
    return readFileSync(findCacheFile(), "utf8");
  } catch {
    return undefined;
  }
};

/** Several minutes longer than a slow machine needs. */
const BUILD_MS_MAX = 300_000;
const BUILT_BYTES_MAX = 32 * 1024 * 1024;

/** Builds in a process of the lowest priority, so that the server answers meanwhile and its memory stays small. */
const build = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const script = join(findRoot(), "packages/dashboard/build.ts");
    const options = { signal, timeout: BUILD_MS_MAX, maxBuffer: BUILT_BYTES_MAX };
    const child = execFile(process.execPath, [script], options, (error, stdout, stderr) =>
      error
        ? reject(new Error(`The dashboard was not built. ${stderr}`, { cause: error }))
        : resolve(stdout),
    );
    if (child.pid !== undefined) lowerPriority(child.pid);
  });

const buildAndCache = async (signal: AbortSignal): Promise<string> => {
  const json = await build(signal);
  saveForNextStart(json);
  return json;
};

/** Several servers may build at once: each file is whole, and the last one stays. */
const saveForNextStart = (json: string): void => {
  const file = findCacheFile();
  const draft = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, json);
    for (const old of globSync(BUILT, { cwd: dirname(file) }))
      rmSync(join(dirname(file), old), { force: true });
    renameSync(draft, file);
  } catch {
    // The folder cannot be written to, so the next start builds again.
  }
};
