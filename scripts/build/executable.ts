import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { DASHBOARD } from "../../packages/local/src/server/dashboard-build.ts";
import { NODE_OPTIONS } from "../node-options.ts";
import { findTools } from "../tools.ts";
import { joinTexts, LICENCES, PROGRAM, THREAD_FILES } from "./package.ts";

/** Node looks for this mark to see whether it carries a program. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** Node's own, which also has those of V8, OpenSSL and all else inside it: it is next to Node wherever that is installed. */
const readNodeLicence = (): string => {
  const folder = dirname(dirname(process.execPath));
  const file = ["LICENSE", "share/doc/node/LICENSE", "share/doc/nodejs/copyright"]
    .map((name) => join(folder, name))
    .find((name) => existsSync(name));
  if (!file) throw new Error(`${folder} has no text of Node's licence.`);
  return readFileSync(file, "utf8");
};

/** Of everything inside the executable: the package's, and Node's. */
export const joinExecutableLicences = (packageFolder: string): string =>
  joinTexts([
    readFileSync(join(packageFolder, LICENCES), "utf8"),
    `Node ${process.version}\n\n${readNodeLicence()}`,
  ]);

/** Node and the program in one file, by Node's single-executable feature. */
export const buildExecutable = (packageFolder: string, file: string): void => {
  const draft = mkdtempSync(join(tmpdir(), "mailproof-executable-"));
  const config = join(draft, "sea.json");
  const blob = join(draft, "sea.blob");
  const licences = join(draft, LICENCES);
  const inPackage = (name: string) => resolve(packageFolder, name);
  writeFileSync(licences, joinExecutableLicences(packageFolder));
  writeFileSync(
    config,
    JSON.stringify({
      main: inPackage(PROGRAM),
      output: blob,
      assets: {
        ...Object.fromEntries(THREAD_FILES.map((name) => [name, inPackage(name)])),
        [DASHBOARD]: inPackage(DASHBOARD),
        [LICENCES]: licences,
      },
      disableExperimentalSEAWarning: true,
      execArgv: NODE_OPTIONS,
    }),
  );
  execFileSync(process.execPath, ["--experimental-sea-config", config], { stdio: "pipe" });
  copyFileSync(process.execPath, file);
  execFileSync(
    join(findTools(), "postject"),
    [file, "NODE_SEA_BLOB", blob, "--sentinel-fuse", FUSE],
    { stdio: "pipe" },
  );
  rmSync(draft, { recursive: true });
};
