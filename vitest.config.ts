import "./scripts/need-node.mjs";
import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import { LastLines } from "./test/left-out.reporter.ts";

// npm run check runs `short`, in less than a minute, before every commit; npm test and CI run both.

/** What plays thousands of histories, starts processes, opens a browser, builds what is deployed, or counts long. */
const LONG = [
  "test/differential/all-messages.test.ts",
  "test/core/find/population.test.ts",
  "test/property/records.test.ts",
  "test/simulation/{cluster,mutants,paid-rate,sweep-*}.test.ts",
  "test/fuzz/*.test.ts",
  "test/local/{admin,backup,check-command,command-line,completion-zsh,damaged-state,data-commands,deploy,erase,installed,job-results,jobs,listen-command,money,npm-start,operator,operator-routes,resumed-file,server,service-commands,start-faults,traces,upgrade,verify-command,webhooks,wrong-usages}.test.ts",
  "test/security/{licences,memory,regexes}.test.ts",
  "test/suites/{mail-servers,sending-programs,signed-mail}.test.ts",
  "test/docs/*.test.ts",
  "test/client/{calls,money,package,verify-file}.test.ts",
  "test/dashboard/*.test.ts",
  "test/functions/{bundles,deployed}.test.ts",
];
/** They need what npm run infra:prepare, scripts/fetch-third-party.sh or debootstrap bring: test:infra, test:third-party, test:deploy. */
const APART = ["test/infra/**", "test/third-party/**", "test/deploy/**", "**/node_modules/**"];
/** npm test draws few of their cases, and test:histories many (test/how-many.ts). */
const DRAWN = [
  "test/core/smtp-pool/shared-slots-cluster.test.ts",
  "test/property/records.test.ts",
  "test/simulation/webhooks.test.ts",
];
/** Minutes each. They are run by their own command, and by CI when it has time left. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  histories: [
    "test/simulation/{mutants,cluster,sweep-cancellations,sweep-deletions,sweep-jobs}.test.ts",
    "test/differential/all-messages.test.ts",
  ],
  commands: [
    "test/local/{command-line,job-results,listen-command,resumed-file,service-commands,verify-command}.test.ts",
    "test/fuzz/fuzz.test.ts",
    "test/docs/guides.test.ts",
  ],
  dashboard: ["test/dashboard/*.test.ts"],
};
const group = process.env["GROUP"];
const results = group === undefined ? "test-results" : `${group}-results`;
const long =
  group === undefined
    ? { include: LONG, exclude: [...APART, ...Object.values(GROUPS).flat()] }
    : {
        include: [...(GROUPS[group] ?? []), ...(group === "histories" ? DRAWN : [])],
        exclude: APART,
      };

const shared = {
  // Nothing here keeps state outside a world, so files may share a worker: a third of the time is saved.
  isolate: false,
  // The first fails the test whose log tells a secret.
  setupFiles: ["test/log-lines.setup.ts", "test/draws.setup.ts"],
  globalSetup: ["test/tools.setup.ts"],
  // A limit ends what hangs, and measures nothing: a machine with other work takes twenty times as long for a server's start.
  testTimeout: 120_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
  env: { POWERTOOLS_METRICS_DISABLED: "true" },
};

/** The long ones first: one that begins last keeps a core waiting at the end, and the short ones fill every gap. */
class LongFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer["sort"]>[0]) {
    const isShort = ({ project }: (typeof files)[number]) => Number(project.name !== "long");
    return (await super.sort(files)).toSorted((a, b) => isShort(a) - isShort(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    // More than there are cores: many tests wait for a socket or another process. A browser waits for nothing: beside
    // another one on two cores, the server under it refuses paid requests because it is late.
    maxWorkers: group === "dashboard" ? 1 : 4,
    reporters: ["default", new LastLines({ outputFile: `.cache/${results}.json` })],
    projects: [
      {
        test: {
          ...shared,
          name: "short",
          include: ["test/**/*.test.ts"],
          exclude: [...LONG, ...APART],
        },
      },
      {
        test: {
          ...shared,
          name: "long",
          // They start dozens of processes each.
          testTimeout: 300_000,
          ...long,
        },
      },
    ],
  },
});
