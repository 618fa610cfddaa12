import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const resolveHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** npm run test:infra. It needs the packages that npm run infra:prepare installs, so npm test does not include it. */
export default defineConfig({
  root: resolveHere(".."),
  resolve: {
    // Packages that only the deployment uses are installed in infra.
    alias: ["aws-cdk-lib", "cdk-nag", "esbuild", "constructs"].map((name) => ({
      find: new RegExp(`^${name}(?=/|$)`),
      replacement: resolveHere(`./node_modules/${name}`),
    })),
  },
  test: {
    include: ["test/infra/*.test.ts"],
    // Pulumi allows one program per process, so each test file runs in its own process.
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
