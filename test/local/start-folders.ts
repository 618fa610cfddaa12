import { readEnvironment } from "@mailproof/local/environment";
import { start } from "@mailproof/local/server/start";

// Starts the server with one folder after the other, and prints what each start comes to. A process of its own for each
// folder would take a second each.

const messages = [];
for (const folder of process.argv.slice(2))
  messages.push(
    await start(
      readEnvironment({ MAILPROOF_DIR: folder, PORT: "0", REACH_DOMAINS: "" }),
      false,
    ).then(
      () => "it started",
      (error: Error) => error.message,
    ),
  );
process.stdout.write(JSON.stringify(messages), () => process.exit(0));
