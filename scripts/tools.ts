// node scripts/tools.ts NAME [arguments] runs the formatter, the linter or the compiler. They weigh half as much as all
// that `npm ci` installs, and only a change of the code needs them. So scripts/tools lists them, and the first run installs them.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

const FOLDER = "scripts/tools";
const LOCK = "package-lock.json";

/** One folder for each lock file: a new version of a tool is another folder, and never a stale one. */
const getFolder = (): string => {
  const hash = createHash("sha256")
    .update(readFileSync(join(FOLDER, LOCK)))
    .digest("hex");
  return resolve(".cache", `tools-${hash.slice(0, 12)}`);
};

/** Two processes may both install; the first rename wins, and an install that was interrupted is never used. */
const install = (folder: string): void => {
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const file of ["package.json", LOCK]) copyFileSync(join(FOLDER, file), join(draft, file));
  execFileSync("npm", ["ci", "--include=dev", "--prefix", draft], { stdio: ["ignore", 2, 2] });
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true });
  }
};

/** The folder of the tools' commands. */
export const findTools = (): string => {
  const folder = getFolder();
  if (!existsSync(folder)) install(folder);
  return join(folder, "node_modules/.bin");
};

if (import.meta.main) {
  const [name = "", ...args] = process.argv.slice(2);
  const folder = findTools();
  // The linter looks for its type-aware part on the path.
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"]}` };
  const { status } = spawnSync(join(folder, name), args, { stdio: "inherit", env });
  process.exitCode = status ?? 1;
}
