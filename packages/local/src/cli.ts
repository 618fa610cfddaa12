import { adminCommands } from "./admin.ts";
import { backupCommand } from "./backup-command.ts";
import { checkCommand } from "./check-command.ts";
import type { Command } from "./command.ts";
import { deadLettersCommands } from "./dead-letters-command.ts";
import { egressCommands } from "./egress-command.ts";
import { fileCommand } from "./file-command.ts";
import { findCommand } from "./find-command.ts";
import { gaugesCommand } from "./gauges-command.ts";
import { jobsCommand } from "./jobs-command.ts";
import { runCommand } from "./run-command.ts";
import { verifyCommand } from "./verify-command.ts";

const commands: readonly Command[] = [
  verifyCommand,
  fileCommand,
  checkCommand,
  findCommand,
  jobsCommand,
  ...adminCommands,
  ...deadLettersCommands,
  ...egressCommands,
  gaugesCommand,
  backupCommand,
];

const exitCode = await runCommand(commands, process.argv.slice(2));
// Timers of questions that nobody waits for any more must not hold the command.
process.stdout.write("", () => process.exit(exitCode));
