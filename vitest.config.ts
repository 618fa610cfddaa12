import "./scripts/need-node.mjs";
import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import { STORIES_ON_AWS } from "./test/aws/second-stack.ts";
import { Results } from "./test/runner/results.reporter.ts";

// Every suite is a project here. npm run check runs `quick`; npm test runs quick and shipped, which need nothing but Node; npm run
// test:all runs each of them, in the order of scripts/test-all.ts.

/** The journey through the sources and the npm package, its money when it is killed, and the README's first steps. */
const SHIPPED = ["test/**/*.shipped.test.ts"];
/** Starts processes, opens sockets by the hundred, builds what is deployed, or counts long. */
const LONG = ["test/**/*.long.test.ts"];
/** Plays histories of the simulation by the thousand, and plants bugs that they must find. */
const HISTORIES = ["test/**/*.history.test.ts"];

/** Each needs what its suite in scripts/test-all.ts fetches first. */
const APART = ["test/{aws,dashboard,deploy,infra,third-party}/**", "**/node_modules/**"];

type Suite = NonNullable<TestProjectInlineConfiguration["test"]>;

const shared = {
  // Nothing here keeps state outside a world, so files may share a worker: a third of the time is saved.
  isolate: false,
  // The first fails the test whose log tells a secret.
  setupFiles: [
    "test/runner/log-lines.setup.ts",
    "test/runner/draws.setup.ts",
    "test/runner/no-internet.setup.ts",
  ],
  // A limit ends what hangs, and measures nothing: a machine with other work takes twenty times as long for a server's start.
  testTimeout: 300_000,
  hookTimeout: 900_000,
  expect: { poll: { timeout: 60_000 } },
  env: { POWERTOOLS_METRICS_DISABLED: "true" },
} satisfies Suite;

/** Tools and the dashboard's build are there before the first test starts. */
const local: Suite = {
  ...shared,
  globalSetup: ["test/runner/package.setup.ts"],
};

/** What stands on AWS, over the emulators that npm ships or over another one. */
const createAws = (env: Record<string, string>): Suite => ({
  ...shared,
  setupFiles: ["test/runner/log-lines.setup.ts", "test/aws/differences.setup.ts"],
  maxConcurrency: 10,
  env: { ...shared.env, MAILPROOF_STORIES: "aws", ...env },
});

/** The ports that an emulator stands behind: one behaviour for each, and what becomes of faults. */
const TABLE = ["test/contract/table.test.ts", "test/functions/table-faults.test.ts"];
const OTHER_PORTS = [
  "test/contract/{blobs,queue}.test.ts",
  "test/functions/{blob,queue}-faults.test.ts",
];
/** All of the product, from a request to its last message. THIRD_PARTY_STORIES="*" runs all stories. */
const STORIES = `test/story/${process.env["THIRD_PARTY_STORIES"] ?? "verify-email"}.test.ts`;

const resolveHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What infra/package.json installs, and only the deployment uses. */
const infraPackages = ["aws-cdk-lib", "cdk-nag", "esbuild", "constructs"].map((name) => ({
  find: new RegExp(`^${name}(?=/|$)`),
  replacement: resolveHere(`infra/node_modules/${name}`),
}));

const SUITES: Readonly<Record<string, Suite>> = {
  quick: {
    ...local,
    include: ["test/**/*.test.ts"],
    exclude: [...SHIPPED, ...LONG, ...HISTORIES, ...APART],
  },
  shipped: { ...local, include: SHIPPED },
  long: { ...local, include: LONG },
  histories: { ...local, include: HISTORIES },
  infra: {
    // One process for each worker makes all of its stages (test/infra/synthesiser.ts).
    isolate: false,
    include: ["test/infra/*.test.ts"],
    testTimeout: shared.testTimeout,
    hookTimeout: shared.hookTimeout,
  },
  aws: {
    ...createAws({}),
    include: ["test/aws/*.test.ts", ...STORIES_ON_AWS.map((name) => `test/story/${name}.test.ts`)],
  },
  "third-party": {
    ...shared,
    setupFiles: [],
    include: ["test/third-party/*.test.ts"],
    // Each Lambda of runtime-client.test.ts waits until its time is up.
    maxConcurrency: 12,
  },
  moto: {
    ...createAws({ MAILPROOF_EMULATOR: "moto" }),
    include: [...TABLE, ...OTHER_PORTS, STORIES],
  },
  dashboard: {
    ...local,
    globalSetup: ["test/runner/package.setup.ts", "test/dashboard/browser.setup.ts"],
    include: ["test/dashboard/*.test.ts"],
  },
  deploy: { ...shared, setupFiles: [], include: ["test/deploy/*.test.ts"] },
};

/** More than there are cores: many tests wait for a socket or another process. */
const WORKERS = 4;
const FEWER_WORKERS: Readonly<Record<string, number>> = {
  infra: 2,
  aws: 2,
  "third-party": 2,
  moto: 2,
  // Each file fills the machine.
  deploy: 1,
};

/** Small files with dozens of pages each. */
const HEAVY = "/dashboard/every-screen-";

/** The long ones first: one that begins last keeps a core waiting at the end, and the short ones fill every gap. */
class LongFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer["sort"]>[0]) {
    const rank = ({ project, moduleId }: (typeof files)[number]) =>
      Number(project.name === "quick") + Number(!moduleId.includes(HEAVY));
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    reporters: ["default", new Results()],
    projects: Object.entries(SUITES).map(([name, suite]) => {
      const maxWorkers = FEWER_WORKERS[name] ?? WORKERS;
      return {
        ...(name === "infra" && { resolve: { alias: infraPackages } }),
        // Projects run side by side when they have as many workers.
        test: { ...suite, name, maxWorkers, sequence: { groupOrder: WORKERS - maxWorkers } },
      };
    }),
  },
});
