import "./scripts/need-node.mjs";
import { defineConfig } from "vitest/config";
import { INCLUDED, LEFT_OUT } from "./test/aws/excluded-stories.ts";

// The stories once more, over the emulators of DynamoDB, SQS and S3 and through the Lambdas.

for (const [name, why] of LEFT_OUT) console.warn(`Left out: "${name} …": ${why}.`);

export default defineConfig({
  test: {
    include: ["test/story/**/*.test.ts"],
    testNamePattern: INCLUDED,
    isolate: false,
    setupFiles: ["test/log-lines.setup.ts"],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", ["json", { outputFile: ".cache/aws-results.json" }]],
    env: { POWERTOOLS_METRICS_DISABLED: "true", MAILPROOF_STORIES: "aws" },
  },
});
