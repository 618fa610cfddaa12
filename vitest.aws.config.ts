import "./scripts/need-node.mjs";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/story/**/*.test.ts"],
    isolate: false,
    maxWorkers: 2,
    testTimeout: 60_000,
    reporters: ["default", ["json", { outputFile: ".cache/aws-results.json" }]],
    env: { POWERTOOLS_METRICS_DISABLED: "true", MAILPROOF_STORIES: "aws" },
  },
});
