// npm run test:infra checks what deploys to AWS: its types, what SST makes of it, what CDK makes of it. Where it was
// not prepared it is left out and says so; under CI that is a failure.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findTools } from "./tools.ts";

const NEEDED = ["infra/node_modules", ".sst/platform/node_modules"];

const run = (folder, command, ...args) => {
  const { status } = spawnSync(join(folder, command), args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};

const missing = NEEDED.filter((path) => !existsSync(path));
if (missing.length > 0) {
  console.warn(`Left out: ${missing.join(" and ")} is absent; npm run infra:prepare brings it.`);
  process.exit(process.env.CI ? 1 : 0);
}
run(findTools(), "tsc", "-p", "infra");
run(
  "node_modules/.bin",
  "vitest",
  "run",
  "--config",
  "infra/vitest.config.ts",
  ...process.argv.slice(2),
);
