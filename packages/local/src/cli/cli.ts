import { commands } from "./commands.ts";
import { runCommand } from "./run-command.ts";

void runCommand(commands, process.argv.slice(2)).then((exitCode) => {
  // Timers of abandoned DNS questions must not keep the command running. A closed output pipe is reported first.
  process.stdout.write("", () => setImmediate(() => process.exit(exitCode)));
});
