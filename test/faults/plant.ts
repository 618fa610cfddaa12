import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { FAULTS as OF_DEPLOYMENT } from "./deployment.ts";
import { applyEdit, type Fault } from "./fault.ts";
import { FAULTS as OF_PRODUCT } from "./product.ts";

// npx node test/faults/plant.ts [words] plants each fault whose tests and description contain these words in a copy of the
// repository, runs its test files there, and prints the first test that fails. A fault that no test notices is an error. The faults of
// the deployment need the files of scripts/prepare-infra.mjs, those of the dashboard a browser. All of them take an hour.

const root = resolve(import.meta.dirname, "../..");

/** The files of the working tree, with node_modules as links: those of the workspace lead into the copy. */
const copyRepository = (): string => {
  const copy = mkdtempSync(join(tmpdir(), "mailproof-faults-"));
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: root,
  });
  for (const path of listed.toString().split("\0").filter(Boolean))
    if (existsSync(join(root, path))) cpSync(join(root, path), join(copy, path));
  const modules = join(root, "node_modules");
  for (const name of readdirSync(modules))
    if (name !== "@mailproof") link(copy, join("node_modules", name));
  for (const name of readdirSync(join(root, "packages")))
    link(copy, `packages/${name}`, `node_modules/@mailproof/${name}`, copy);
  const installed = [".sst", "infra/node_modules", ".cache/mail-servers"];
  for (const path of installed) if (existsSync(join(root, path))) link(copy, path);
  return copy;
};

const link = (copy: string, path: string, at = path, from = root): void => {
  mkdirSync(dirname(join(copy, at)), { recursive: true });
  symlinkSync(join(from, path), join(copy, at));
};

type Results = {
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
};

/** The first test that fails, or null. The tests of the suites aws and moto also run in others. */
const findFailure = (copy: string, tests: readonly string[]): string | null => {
  const output = join(copy, ".cache/faults.json");
  rmSync(output, { force: true });
  const files = tests.map((name) => `test/${name}.test.ts`);
  const projects = ["--project", "!aws", "--project", "!moto"];
  const args = ["run", "--bail", "1", ...projects, "--reporter", "json", "--outputFile", output];
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { status, stderr } = spawnSync(process.execPath, [vitest, ...args, ...files], {
    cwd: copy,
    encoding: "utf8",
  });
  if (status === 0) return null;
  const results = existsSync(output) ? (JSON.parse(readFileSync(output, "utf8")) as Results) : null;
  const all = results?.testResults.flatMap(({ assertionResults }) => assertionResults) ?? [];
  const failed = all.find((one) => one.status === "failed")?.fullName;
  if (failed !== undefined) return failed;
  // A fault that stops the tests before the first of them shows nothing about them.
  console.log(
    `no test ran: ${results?.testResults.map(({ message }) => message).join(" ")} ${stderr}`,
  );
  return null;
};

const plant = (copy: string, fault: Fault): string | null => {
  const edits = [fault, ...(fault.also ?? [])];
  const read = (file: string): string => readFileSync(join(copy, file), "utf8");
  const sound = new Map(edits.map(({ file }) => [file, read(file)]));
  for (const edit of edits) writeFileSync(join(copy, edit.file), applyEdit(read(edit.file), edit));
  try {
    return findFailure(copy, fault.tests);
  } finally {
    for (const [file, source] of sound) writeFileSync(join(copy, file), source);
  }
};

const words = process.argv.slice(2).join(" ");
const planted = [...OF_PRODUCT, ...OF_DEPLOYMENT].filter(({ what, tests }) =>
  `${tests.join(" ")} ${what}`.includes(words),
);
const copy = copyRepository();
try {
  const red = findFailure(copy, [...new Set(planted.flatMap(({ tests }) => tests))]);
  if (red !== null) throw new Error(`without a fault this test fails: ${red}`);
  let missed = 0;
  for (const fault of planted) {
    const found = plant(copy, fault);
    if (found === null) missed++;
    console.log(`${found === null ? "MISSED " : "noticed"}  ${fault.what}: ${found ?? ""}`);
  }
  console.log(`${planted.length - missed} of ${planted.length} faults are noticed.`);
  if (missed > 0) process.exitCode = 1;
} finally {
  rmSync(copy, { recursive: true });
}
