// npx node infra/deploy/restore-stage.ts --stage production [--at 2026-11-21T10:00:00Z] restores the table of that second beside the
// stage's own, audits its money, and prints how to switch to it.
import { parseArgs } from "node:util";
import { openPrograms } from "./programs.ts";
import { restore } from "./restore.ts";

const USAGE =
  "Usage: npx node infra/deploy/restore-stage.ts --stage STAGE [--at TIME], such as 2026-11-21T10:00:00Z.\n";

const readOptions = (): { readonly stage?: string; readonly at?: string } => {
  try {
    return parseArgs({ options: { stage: { type: "string" }, at: { type: "string" } } }).values;
  } catch {
    return {};
  }
};

const { stage = "", at = null } = readOptions();
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
