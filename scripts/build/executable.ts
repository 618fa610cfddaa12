import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { NODE_OPTIONS, PROGRAM, THREAD_FILES } from "./package.ts";

/** Node looks for this mark to see whether it carries a program. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
const TOOLS = import.meta.dirname;
const POSTJECT = join(TOOLS, "node_modules/.bin/postject");

/** Nothing but this build needs them, so npm ci of the repository does not bring them. */
export const installTools = (): void => {
  if (!existsSync(POSTJECT)) execFileSync("npm", ["ci", "--prefix", TOOLS], { stdio: "pipe" });
};

/** Node and the program in one file, by Node's single-executable feature. */
export const buildExecutable = (packageFolder: string, file: string): void => {
  const draft = mkdtempSync(join(tmpdir(), "mailproof-executable-"));
  const config = join(draft, "sea.json");
  const blob = join(draft, "sea.blob");
  const inPackage = (name: string) => resolve(packageFolder, name);
  writeFileSync(
    config,
    JSON.stringify({
      main: inPackage(PROGRAM),
      output: blob,
      assets: Object.fromEntries(THREAD_FILES.map((name) => [name, inPackage(name)])),
      disableExperimentalSEAWarning: true,
      execArgv: NODE_OPTIONS,
    }),
  );
  execFileSync(process.execPath, ["--experimental-sea-config", config], { stdio: "pipe" });
  copyFileSync(process.execPath, file);
  installTools();
  execFileSync(POSTJECT, [file, "NODE_SEA_BLOB", blob, "--sentinel-fuse", FUSE], { stdio: "pipe" });
  rmSync(draft, { recursive: true });
};
