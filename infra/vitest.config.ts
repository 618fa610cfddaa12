import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const resolveHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** npm run test:infra. Needs what npm run infra:prepare brings, so it is no part of npm test. */
export default defineConfig({
  root: resolveHere(".."),
  resolve: {
    // What only the deployment uses is installed beside it.
    alias: ["aws-cdk-lib", "cdk-nag", "esbuild", "constructs"].map((name) => ({
      find: new RegExp(`^${name}(?=/|$)`),
      replacement: resolveHere(`./node_modules/${name}`),
    })),
  },
  test: {
    include: ["test/infra/*.test.ts"],
    // Pulumi keeps one program in the process, so each file has a process of its own.
    pool: "forks",
    // The tests wait for nothing; the time allows for a busy machine.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    reporters: ["default", ["json", { outputFile: ".cache/infra-results.json" }]],
    env: {
      SST_SECRET_KeyPepper: "a pepper for the tests",
      SST_SECRET_CursorSecret: "a secret for the tests",
      SST_SECRET_ActivityKey: "an activity key for tests",
      SST_SECRET_SealingKey: "a sealing key for the tests",
      SST_SECRET_SmtpProxies: "socks5://user:pass@192.0.2.1:1080",
    },
  },
});
