import { adminCommands } from "./admin.ts";
import { backupCommand } from "./backup-command.ts";
import { checkCommand } from "./check-command.ts";
import { deadLettersCommands } from "./dead-letters-command.ts";
import type { Command } from "./define-command.ts";
import { egressCommands } from "./egress-command.ts";
import { fileCommand } from "./file-command.ts";
import { findCommand } from "./find-command.ts";
import { gaugesCommand } from "./gauges-command.ts";
import { jobsCommand } from "./jobs-command.ts";
import { startCommand } from "./start-command.ts";
import { verifyCommand } from "./verify-command.ts";

/** The commands of `mailproof`; docs/command-line.md documents them. */
export const commands: readonly Command[] = [
  startCommand,
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
