import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type FileResult, formatLeftOut } from "../test/runner/results.reporter.ts";
import { getToolFolder } from "../test/third-party/tools.ts";

// npm run test:all [-- suite ...] runs every suite, or those that are named: cheap ones first, until one fails. .ci/run
// installs what they need. What a machine lacks is left out with its reason.

type Outcome = { readonly succeeded: boolean; readonly results: readonly FileResult[] };
type Suite = { readonly name: string; readonly run: () => Outcome };

const succeeds = (
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): boolean => {
  const { status, error } = spawnSync(program, args, { ...options, stdio: "inherit" });
  if (error) throw error;
  return status === 0;
};

/** Counts as one test. */
const command = (name: string, program: string, ...args: readonly string[]): Suite => ({
  name,
  run: () => {
    const succeeded = succeeds(program, args);
    const [passed, failed] = [Number(succeeded), Number(!succeeded)];
    return { succeeded, results: [{ file: name, passed, failed, leftOut: [] }] };
  },
});

const node = (name: string, ...args: readonly string[]): Suite =>
  command(name, process.execPath, ...args);

const RESULTS = resolve(".cache/results.json");

/** What the runner counted, even where it failed. */
const withResults = (run: (env: NodeJS.ProcessEnv) => boolean): Outcome => {
  rmSync(RESULTS, { force: true });
  const succeeded = run({ ...process.env, RESULTS });
  const results = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, "utf8")) : [];
  return { succeeded, results };
};

const vitest = (env: NodeJS.ProcessEnv, projects: readonly string[], ...args: readonly string[]) =>
  succeeds(
    process.execPath,
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      ...projects.flatMap((name) => ["--project", name]),
      ...args,
    ],
    { env },
  );

/** A project of vitest.config.ts. */
const tests = (name: string): Suite => ({
  name,
  run: () => withResults((env) => vitest(env, [name])),
});

/** Left out where the path is absent that a script fetches. */
const needing = (path: string, script: string, suite: Suite): Suite => ({
  name: suite.name,
  run: () => {
    if (existsSync(path)) return suite.run();
    const reason = `there is no ${path}, which ${script} fetches`;
    const leftOut = [{ name: suite.name, tests: 1, reason }];
    return { succeeded: true, results: [{ file: suite.name, passed: 0, failed: 0, leftOut }] };
  },
});

/** As a newcomer has it: only what is committed. */
const runInClone = (): Outcome => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-clone-"));
  const cwd = join(folder, "mailproof");
  try {
    return withResults((env) => {
      const { CI: _, MAIL_SERVERS_DIR: __, ...plain } = env;
      const options = { cwd, env: plain };
      return (
        succeeds("git", ["clone", "--quiet", ".", cwd]) &&
        succeeds("npm", ["ci"], options) &&
        succeeds("npm", ["test"], options)
      );
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** npm test in a clone, and then here, where there are files and programs beside it, what was left out there. */
const runNpmTest = (): Outcome => {
  const clone = runInClone();
  const isWhole = ({ leftOut }: FileResult): boolean => leftOut.length === 0;
  const files = clone.results.filter((one) => !isWhole(one)).map(({ file }) => file);
  if (!clone.succeeded || files.length === 0) return clone;
  const here = withResults((env) => vitest(env, ["quick", "long", "histories"], ...files));
  return {
    succeeded: here.succeeded,
    results: [...clone.results.filter(isWhole), ...here.results],
  };
};

const SST = ".sst/platform/node_modules";

const SUITES: readonly Suite[] = [
  node("format", "scripts/tools.ts", "biome", "check", "."),
  node("lint", "scripts/tools.ts", "oxlint", "--type-aware", "--deny-warnings"),
  node("types", "scripts/tools.ts", "tsc"),
  node("types of the dashboard", "scripts/tools.ts", "tsc", "-p", "packages/dashboard"),
  needing(
    SST,
    "scripts/prepare-infra.mjs",
    node("types of infra", "scripts/tools.ts", "tsc", "-p", "infra"),
  ),
  needing(SST, "scripts/prepare-infra.mjs", tests("infra")),
  needing(
    "test/clients/node_modules",
    "npm install --prefix test/clients",
    node("clients", "test/clients/run-clients.ts"),
  ),
  node("mcp", "scripts/check-mcp.ts"),
  tests("third-party"),
  needing(getToolFolder("python"), "scripts/fetch-third-party.sh", tests("moto")),
  tests("aws"),
  tests("dashboard"),
  tests("deploy"),
  { name: "npm test", run: runNpmTest },
  // More than npm test plays, and one pair of faults of twenty: npm run simulate -- --pairs 1 plays all.
  node(
    "more histories",
    "test/simulation/cli.ts",
    "--seeds",
    "1000",
    "--from",
    "300",
    "--pairs",
    "20",
  ),
  node("speed", "bench/run.ts", "--ratchet"),
];

const sum = (results: readonly FileResult[], field: "passed" | "failed"): number =>
  results.reduce((all, one) => all + one[field], 0);

type Row = Outcome & { readonly name: string; readonly seconds: number };

const printTable = (rows: readonly Row[]): void => {
  console.log(`\n${"suite".padEnd(24)}  seconds  passed  failed`);
  for (const { name, seconds, results, succeeded } of rows) {
    const counts = [Math.round(seconds), sum(results, "passed"), sum(results, "failed")];
    const cells = counts.map((count, at) => `${count}`.padStart(at === 0 ? 7 : 6));
    console.log(`${[name.padEnd(24), ...cells].join("  ")}${succeeded ? "" : "  stopped here"}`);
    for (const line of formatLeftOut(results.flatMap((one) => one.leftOut)))
      console.log(`  ${line}`);
  }
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !SUITES.some((suite) => suite.name === name));
if (unknown.length > 0) {
  const all = SUITES.map(({ name }) => name).join(", ");
  console.error(`There is no suite ${unknown.join(", ")}. There are: ${all}.`);
  process.exit(2);
}

const rows: Row[] = [];
for (const { name, run } of SUITES.filter(
  (suite) => names.length === 0 || names.includes(suite.name),
)) {
  console.log(`\n== ${name}`);
  const start = performance.now();
  const outcome = run();
  rows.push({ name, seconds: (performance.now() - start) / 1_000, ...outcome });
  if (!outcome.succeeded) break;
}
printTable(rows);
const results = rows.flatMap((row) => row.results);
const succeeded = rows.every((row) => row.succeeded);
const failed = sum(results, "failed");
// A runner that ended before its first test has failed, too.
console.log(
  `\n${sum(results, "passed")} passed, ${succeeded ? failed : Math.max(failed, 1)} failed`,
);
process.exitCode = succeeded ? 0 : 1;
