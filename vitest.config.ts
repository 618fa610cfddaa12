import "./scripts/need-node.mjs";
import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import { LastLines } from "./test/left-out.reporter.ts";

// npm run check runs `short`, in less than a minute, before every commit; npm test and CI run both.

/** What plays thousands of histories, starts processes, opens a browser, builds what is deployed, or counts long. */
const LONG = [
  "test/core/find/population.test.ts",
  "test/simulation/{cluster,storm,hooks,mutants,paid-rate,sweep-*}.test.ts",
  "test/fuzz/*.test.ts",
  "test/local/{admin,backup,check-command,damaged-state,deploy,installed,job-results,jobs,money,npm-start,operator,resumed-file,server,service-commands,verify-command,webhooks}.test.ts",
  "test/security/{licences,memory,regexes}.test.ts",
  "test/suites/mail-servers.test.ts",
  "test/docs/*.test.ts",
  "test/client/{calls,money,package,verify-file}.test.ts",
  "test/functions/{bundles,deployed}.test.ts",
];
/** They need what npm run infra:prepare or scripts/fetch-third-party.sh brings: test:infra and test:third-party. */
const APART = ["test/infra/**", "test/third-party/**", "**/node_modules/**"];

const shared = {
  // Nothing here keeps state outside a world, so files may share a worker: a third of the time is saved.
  isolate: false,
  // Fails the test whose log tells a secret.
  setupFiles: ["test/log-lines.setup.ts"],
  // Many tests ask real servers, in processes of their own, and a machine may have other things to do.
  testTimeout: 30_000,
  hookTimeout: 60_000,
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
    // More than there are cores: many tests wait for a socket or another process.
    maxWorkers: 4,
    reporters: ["default", new LastLines({ outputFile: ".cache/test-results.json" })],
    projects: [
      {
        test: {
          ...shared,
          name: "short",
          include: ["test/**/*.test.ts"],
          exclude: [...LONG, ...APART],
        },
      },
      { test: { ...shared, name: "long", include: LONG, exclude: APART } },
    ],
  },
});
