import "./scripts/need-node.mjs";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Those need what npm run infra:prepare brings: npm run test:infra.
    exclude: ["test/infra/**", "**/node_modules/**"],
    // Nothing here keeps state outside a world, so files may share a worker: a third of the time is saved.
    isolate: false,
    // More than there are cores: many tests wait for a socket or another process.
    maxWorkers: 4,
    // Many tests ask real servers, in processes of their own, and a machine may have other things to do.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ["default", ["json", { outputFile: ".cache/test-results.json" }]],
    env: { POWERTOOLS_METRICS_DISABLED: "true" },
  },
});
