// npx node scripts/build/release.ts: what npm run build writes into dist/, of exactly what is committed, for the version in package.json.
import { execFileSync } from "node:child_process";
import { findFaults, findUnreleased } from "./release-faults.ts";

const faults = findFaults(process.cwd());
if (faults.length > 0) {
  process.stderr.write(`No release was made.\n\n${faults.map((one) => `- ${one}\n`).join("")}`);
  process.exit(1);
}
execFileSync(process.execPath, ["scripts/build/build.ts"], { stdio: "inherit" });

const unreleased = findUnreleased(process.cwd());
if (unreleased !== undefined) process.stderr.write(`\n${unreleased}\n`);
