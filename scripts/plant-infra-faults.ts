import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { FAULTS, type Fault } from "../test/infra/faults.ts";

// npx node scripts/plant-infra-faults.ts [words] plants each fault whose description has these words in a copy of the repository, and
// runs its tests there. A fault that no test notices is an error. It needs what scripts/prepare-infra.mjs brings.

const root = resolve(import.meta.dirname, "..");
const LINKED = ["node_modules", ".sst", "infra/node_modules"];
const COPIED = [
  "infra",
  "packages",
  "scripts",
  "vitest.config.ts",
  "test/runner/results.reporter.ts",
  "bench/results",
  "test/infra",
  "test/runner",
  "package.json",
  "sst.config.ts",
  "tsconfig.json",
  "docs",
  "deploy",
];

const copyRepository = (): string => {
  const copy = mkdtempSync(join(tmpdir(), "mailproof-faults-"));
  for (const path of COPIED)
    cpSync(join(root, path), join(copy, path), {
      recursive: true,
      filter: (from) => !/\/(?:node_modules|dist)(?:\/|$)/.test(from),
    });
  for (const path of LINKED) symlinkSync(join(root, path), join(copy, path));
  return copy;
};

const areTestsGreen = (copy: string, tests: readonly string[]): boolean => {
  const files = tests.map((name) => `test/infra/${name}.test.ts`);
  const args = ["run", "--bail", "1", "--project", "infra", ...files];
  const { status, stdout } = spawnSync(join(root, "node_modules/.bin/vitest"), args, {
    cwd: copy,
    encoding: "utf8",
  });
  // A fault that stops the tests before the first of them shows nothing about them.
  if (!/Tests .*\d+ (?:passed|failed)/s.test(stdout)) throw new Error(`no test ran:\n${stdout}`);
  return status === 0;
};

/** The bundles of the sound code serve all faults, none of which is in a Lambda. */
const keepBundles = (copy: string): void => {
  const file = join(copy, "infra/bundles.ts");
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(/^execFileSync\([\s\S]*?^\);$/m, "void execFileSync;"),
  );
};

const isNoticed = (copy: string, { file, from, to, tests }: Fault): boolean => {
  const path = join(copy, file);
  const sound = readFileSync(path, "utf8");
  if (sound.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`);
  writeFileSync(
    path,
    sound.replace(from, () => to),
  );
  try {
    return !areTestsGreen(copy, [tests]);
  } finally {
    writeFileSync(path, sound);
  }
};

const words = process.argv.slice(2).join(" ");
const planted = FAULTS.filter(({ what, tests }) => `${tests} ${what}`.includes(words));
const copy = copyRepository();
try {
  const suites = [...new Set(planted.map(({ tests }) => tests))];
  if (!areTestsGreen(copy, suites)) throw new Error("the tests fail without a fault");
  keepBundles(copy);
  const missed = planted.filter((fault) => {
    const noticed = isNoticed(copy, fault);
    console.log(`${noticed ? "noticed" : "MISSED "}  ${fault.tests}: ${fault.what}`);
    return !noticed;
  });
  console.log(`${planted.length - missed.length} of ${planted.length} faults are noticed.`);
  if (missed.length > 0) process.exitCode = 1;
} finally {
  rmSync(copy, { recursive: true });
}
