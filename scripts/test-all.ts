import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type FileResult, formatLeftOut } from "../test/runner/results.reporter.ts";
import { getToolFolder } from "../test/third-party/tools.ts";

// npm run test:all [-- suite ...] runs every suite, or the named ones, until one fails. What a machine lacks is left out with its reason.
// --between COMMAND runs after the first stage: with it .ci/run installs what the later stages need.

type Outcome = { readonly succeeded: boolean; readonly results: readonly FileResult[] };
type Run = () => Promise<Outcome>;
type Suite = { readonly name: string; readonly run: Run };

const succeeds = async (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> => {
  const child = spawn(program, args, { env, stdio: "inherit" });
  const { promise, resolve: end, reject } = Promise.withResolvers<boolean>();
  child.once("error", reject).once("close", (code) => end(code === 0));
  return promise;
};

/** Counts as one test. */
const command = (name: string, program: string, ...args: readonly string[]): Suite => ({
  name,
  run: async () => {
    const succeeded = await succeeds(program, args);
    const [passed, failed] = [Number(succeeded), Number(!succeeded)];
    return { succeeded, results: [{ file: name, passed, failed, leftOut: [] }] };
  },
});

const node = (name: string, ...args: readonly string[]): Suite =>
  command(name, process.execPath, ...args);

const getPath = (name: string): string =>
  resolve(".cache/suites", `${name.replaceAll(" ", "-")}.json`);

/** What the runner counted, even where it failed. */
const withResults = async (
  name: string,
  run: (env: NodeJS.ProcessEnv) => Promise<boolean>,
): Promise<Outcome> => {
  const file = getPath(name);
  rmSync(file, { force: true });
  const succeeded = await run({ ...process.env, RESULTS: file });
  const results = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  return { succeeded, results };
};

const VITEST = ["node_modules/vitest/vitest.mjs", "run"];
const toProjects = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => ["--project", name]);

/** Projects of vitest.config.ts. */
const tests = (name: string, projects = [name]): Suite => ({
  name,
  run: () =>
    withResults(name, (env) =>
      succeeds(process.execPath, [...VITEST, ...toProjects(projects)], env),
    ),
});

/** Left out where the path is absent that a script fetches. */
const needing = (path: string, script: string, suite: Suite): Suite => ({
  name: suite.name,
  run: async () => {
    if (existsSync(path)) return suite.run();
    const reason = `there is no ${path}, which ${script} fetches`;
    const leftOut = [{ name: suite.name, tests: 1, reason }];
    return { succeeded: true, results: [{ file: suite.name, passed: 0, failed: 0, leftOut }] };
  },
});

const NPM_TEST = "npm test";
const isWhole = ({ leftOut }: FileResult): boolean => leftOut.length === 0;
let leftOutBefore: readonly string[] = [];

/**
 * As a newcomer runs it: without files beside the repository and without the settings of CI. CI itself is a clone of what is committed,
 * and has run npm ci. Files with tests that were left out run again in the second stage, and count there.
 */
const npmTest: Suite = {
  name: NPM_TEST,
  run: async () => {
    const outcome = await withResults(NPM_TEST, (env) => {
      const { CI: _, MAIL_SERVERS_DIR: __, ...plain } = env;
      return succeeds("npm", ["test"], { ...plain, FILES_BESIDE: "none" });
    });
    leftOutBefore = outcome.results.filter((one) => !isWhole(one)).map(({ file }) => file);
    return { ...outcome, results: outcome.results.filter(isWhole) };
  },
};

const LEFT_OUT_BEFORE = "left out before";

const leftOutTests: Suite = {
  name: LEFT_OUT_BEFORE,
  run: () =>
    withResults(LEFT_OUT_BEFORE, async (env) => {
      if (leftOutBefore.length === 0) return true;
      const args = [...VITEST, ...toProjects(["quick", "shipped"]), ...leftOutBefore];
      return succeeds(process.execPath, args, env);
    }),
};

const SST = ".sst/platform/node_modules";

/** The suites of a stage run one after the other: tests with browsers and mail servers fail when another suite takes both cores. */
const STAGES: readonly (readonly Suite[])[] = [
  [npmTest],
  [
    leftOutTests,
    tests("long"),
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
    node("mcp", "test/mcp/inspect.ts"),
    tests("third-party"),
    needing(getToolFolder("python"), "scripts/fetch-third-party.sh", tests("moto")),
    tests("aws"),
    tests("histories"),
    tests("dashboard"),
    tests("deploy"),
    // npm run bench -- --ratchet measures more than the list.
    node("speed", "bench/run.ts", "--ratchet", "list"),
  ],
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

const rows: Row[] = [];

const hasFailed = (): boolean => rows.some(({ succeeded }) => !succeeded);

const runSuites = async (suites: readonly Suite[]): Promise<void> => {
  for (const { name, run } of suites) {
    if (hasFailed()) return;
    console.log(`\n== ${name}`);
    const start = performance.now();
    const outcome = await run();
    rows.push({ name, seconds: (performance.now() - start) / 1_000, ...outcome });
  }
};

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { between: { type: "string" } },
});
const all = STAGES.flat().map(({ name }) => name);
const unknown = names.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`There is no suite ${unknown.join(", ")}. There are: ${all.join(", ")}.`);
  process.exit(2);
}

const prepare = (path: string | undefined): Suite[] =>
  path === undefined ? [] : [command(path, path)];
const isWanted = ({ name }: Suite): boolean =>
  names.length === 0 ||
  names.includes(name) ||
  (name === LEFT_OUT_BEFORE && names.includes(NPM_TEST));

for (const [nth, stage] of STAGES.entries()) {
  await runSuites(stage.filter(isWanted));
  if (nth === 0) await runSuites(prepare(values.between));
}
printTable(rows);
const results = rows.flatMap((row) => row.results);
const failed = sum(results, "failed");
// A runner that ended before its first test has failed, too.
console.log(
  `\n${sum(results, "passed")} passed, ${hasFailed() ? Math.max(failed, 1) : failed} failed`,
);
process.exitCode = hasFailed() ? 1 : 0;
