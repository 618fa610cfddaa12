import { execFile, execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildExecutable } from "../../scripts/build/executable.ts";
import { writePackage } from "../../scripts/build/package.ts";
import { findTools } from "../../scripts/tools.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { describeServedClients, describeServedFiles, testServedFiles } from "./served-clients.ts";
import { describeProgram, type Program } from "./started.ts";

// What people install without this repository, built once: the npm package, and the executable.

const run = promisify(execFile);

const folder = mkdtempSync(join(tmpdir(), "mailproof-installed-"));
const packageFolder = join(folder, "package");
beforeAll(() => writePackage(packageFolder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Installed = {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its name in messages. */
  readonly called: string;
};

const describeInstalled = (
  name: string,
  installed: Installed,
  alsoInside: readonly string[],
): void => {
  const { program, env, called } = installed;
  const start = (): Program => ({ start: [program, "start"], command: [program], env });
  describeProgram(name, start, (getServer) => testServedFiles(name, getServer));

  test("the program's messages contain its own command without npm", async () => {
    const { stdout } = await run(program, ["start", "--help"], { env });
    expect(stdout).toContain(`Usage: ${called} start [--fresh]\n`);
    expect(stdout).not.toMatch(/npm|npx/);
  });

  test("the program prints the licence of everything inside it", async () => {
    const { stdout } = await run(program, ["licences"], { env, maxBuffer: 10_000_000 });
    for (const inside of ["valibot", "dns-packet", "socks", "jose", "zod", "preact", ...alsoInside])
      expect(stdout).toMatch(new RegExp(`-\\n\\n${inside}[^\\n]*\\n\\n[\\s\\S]*(?:MIT|ISC)`));
  });
};

describe("the npm package", () => {
  const prefix = join(folder, "prefix");
  const bin = dirname(process.execPath);
  const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}` };
  beforeAll(async () => {
    const pack = ["pack", packageFolder, "--pack-destination", folder, "--json"];
    const { stdout } = await run("npm", pack);
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    const install = ["install", "--global", "--offline", "--prefix", prefix];
    await run("npm", [...install, join(folder, filename)], { env });
  });

  const program = join(prefix, "bin/mailproof");
  describeInstalled("the npm package", { program, env, called: "mailproof" }, []);
  // Clients that differ in no byte need to be used once.
  describeServedClients("the npm package", () => ({
    start: [program, "start"],
    command: [program],
    env,
  }));
});

type LockFile = {
  readonly packages: Readonly<
    Record<string, { readonly dev?: true; readonly link?: true; readonly resolved?: string }>
  >;
};

/** The packages at the top of node_modules: `npm ci --omit=dev` leaves out those that are `dev`. */
const TOP_PACKAGE = /^node_modules\/(?:@[^/]+\/)?[^/]+$/;

/** Only files that are committed, and the packages that `npm ci --omit=dev` installs. */
const createPlainClone = (home: string): void => {
  const wanted = ["packages", "scripts", "*.json", "LICENSE"];
  const files = execFileSync("git", ["ls-files", "-z", "--", ...wanted], { encoding: "utf8" });
  for (const file of files.split("\0"))
    if (file !== "" && existsSync(file)) cpSync(file, join(home, file));
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as LockFile;
  for (const [path, { dev, link, resolved = "" }] of Object.entries(packages)) {
    if (dev || !TOP_PACKAGE.test(path) || !existsSync(path)) continue;
    mkdirSync(dirname(join(home, path)), { recursive: true });
    symlinkSync(link ? join(home, resolved) : resolve(path), join(home, path));
  }
};

describe("a clone without developer packages", () => {
  const home = join(folder, "clone");
  beforeAll(() => createPlainClone(home));

  const start = [process.execPath, join(home, "packages/local/src/server/main.ts")] as const;
  const env = { PATH: process.env["PATH"] ?? "" };
  describeServedFiles("a clone", () => ({ start, command: start, env }));
});

const findReasonAgainstExecutable = (): string | null => {
  if (process.platform !== "linux" || process.arch !== "x64") return "it is for Linux x64 only";
  try {
    findTools();
    return null;
  } catch (error) {
    if (process.env["CI"]) throw error;
    return "npm could not install scripts/tools";
  }
};

describeUnless(findReasonAgainstExecutable(), "the executable", () => {
  const program = join(folder, "alone/mailproof");
  beforeAll(() => {
    const built = join(folder, "mailproof-linux-x64");
    buildExecutable(packageFolder, built);
    // Nothing of what it was made from is beside it.
    mkdirSync(dirname(program));
    copyFileSync(built, program);
  });

  // No Node is found, and no npm.
  const env = { PATH: "/nowhere" };
  describeInstalled("the executable", { program, env, called: program }, [
    `Node ${process.version}`,
  ]);
});
