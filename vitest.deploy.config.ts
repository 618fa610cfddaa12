import "./scripts/need-node.mjs";
import { defineConfig } from "vitest/config";
import { LastLines } from "./test/left-out.reporter.ts";

// npm run test:deploy: the container's file and the three ways to install, in a fresh Debian without anything else. It needs
// root and debootstrap, and takes minutes, so neither npm test nor CI runs it.

export default defineConfig({
  test: {
    include: ["test/deploy/*.test.ts"],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 900_000,
    reporters: ["verbose", new LastLines({ outputFile: ".cache/deploy-results.json" })],
  },
});
