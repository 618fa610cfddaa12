import "./scripts/need-node.mjs";
import { defineConfig } from "vitest/config";
import { INCLUDED } from "./test/aws/excluded-stories.ts";
import { LastLines } from "./test/left-out.reporter.ts";
import type { Emulator } from "./test/third-party/emulator.ts";
import { findToolAbsence, type Tool } from "./test/third-party/tools.ts";

// What stands on AWS, run once more by code that others wrote: AWS's runtime client for Lambdas, and two further
// emulators. And signatures of mail that others wrote. scripts/fetch-third-party.sh brings them.

/** The ports that an emulator stands behind: one behaviour for each, and what becomes of faults. */
const TABLE = ["test/contract/table.test.ts", "test/functions/table-faults.test.ts"];
const OTHERS = [
  "test/contract/{blobs,queue}.test.ts",
  "test/functions/{blob,queue}-faults.test.ts",
];

const EMULATORS: readonly (readonly [Emulator, Tool, suites: readonly string[]])[] = [
  ["dynamodb-local", "dynamodb_local", TABLE],
  ["moto", "python", [...TABLE, ...OTHERS]],
];

/** All of the product, from a request to its last message. THIRD_PARTY_STORIES="*" runs all stories. */
const STORIES = `test/story/${process.env["THIRD_PARTY_STORIES"] ?? "verify-email"}.test.ts`;

const shared = {
  isolate: false,
  testTimeout: 120_000,
  hookTimeout: 120_000,
};
const LOG_LINES = "test/log-lines.setup.ts";

const emulators = EMULATORS.filter(([emulator, tool]) => {
  const absence = findToolAbsence(tool);
  if (absence !== null) console.warn(`Left out: the suites over ${emulator}: ${absence}.`);
  return absence === null;
});

export default defineConfig({
  test: {
    maxWorkers: 2,
    maxConcurrency: 10,
    testNamePattern: INCLUDED,
    reporters: ["default", new LastLines({ outputFile: ".cache/third-party-results.json" })],
    projects: [
      {
        test: { ...shared, name: "programs", include: ["test/third-party/*.test.ts"] },
      },
      ...emulators.map(([emulator, , suites]) => ({
        test: {
          ...shared,
          name: emulator,
          include: [...suites, STORIES],
          setupFiles: [LOG_LINES, "test/third-party/differences.setup.ts"],
          env: {
            POWERTOOLS_METRICS_DISABLED: "true",
            MAILPROOF_STORIES: "aws",
            MAILPROOF_EMULATOR: emulator,
          },
        },
      })),
    ],
  },
});
