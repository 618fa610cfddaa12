// npx node scripts/restore-stage.ts --stage production [--at 2026-11-21T10:00:00Z] makes a table of what the stage had at that second, audits it, and
// says how to switch to it. The stage itself is not changed.
import { parseArgs } from "node:util";
import { openPrograms } from "../infra/deploy/programs.ts";
import { restore } from "../infra/deploy/restore.ts";

const USAGE =
  "Usage: npx node scripts/restore-stage.ts --stage STAGE [--at TIME], such as 2026-11-21T10:00:00Z.\n";

const { stage = "", at = null } = parseArgs({
  options: { stage: { type: "string" }, at: { type: "string" } },
}).values;
if (!/^[a-z][a-z0-9-]*$/.test(stage) || (at !== null && Number.isNaN(Date.parse(at)))) {
  process.stderr.write(USAGE);
  process.exit(2);
}

try {
  process.exitCode = await restore({ stage, at }, openPrograms(process.env));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
