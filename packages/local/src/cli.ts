import { commands } from "./commands.ts";
import { runCommand } from "./run-command.ts";

const exitCode = await runCommand(commands, process.argv.slice(2));
// Timers of questions that nobody waits for any more must not hold the command.
process.stdout.write("", () => process.exit(exitCode));
