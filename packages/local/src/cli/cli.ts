import { commands } from "./commands.ts";
import { runCommand } from "./run-command.ts";

// A reader that closes the pipe, as `head` does, ends the command without an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) =>
  process.exit(error.code === "EPIPE" ? 0 : 1),
);

void runCommand(commands, process.argv.slice(2)).then((exitCode) => {
  // Timers of abandoned DNS questions must not keep the command running.
  process.stdout.write("", () => process.exit(exitCode));
});
