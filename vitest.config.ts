import "./scripts/need-node.mjs";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    reporters: ["default", ["json", { outputFile: ".cache/test-results.json" }]],
    env: { POWERTOOLS_METRICS_DISABLED: "true" },
  },
});
