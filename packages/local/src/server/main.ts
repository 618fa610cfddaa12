import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { readEnvironment } from "../environment.ts";
import { formatFirstScreen } from "./first-screen.ts";
import { start } from "./start.ts";
import { watchStopSignals } from "./stop-signals.ts";

type StartFailure = NodeJS.ErrnoException & { readonly port?: number; readonly address?: string };

const exitWith =
  (code: number) =>
  (error: StartFailure): never => {
    const portMessage =
      error.code === "EADDRINUSE" &&
      `Another program has port ${error.port}; set PORT to a free one, or to 0 for any.`;
    const hostMessage =
      error.code === "EADDRNOTAVAIL" &&
      error.address !== undefined &&
      `HOST: ${error.address} is not an address of this machine.`;
    const hint = error.code?.startsWith("ERR_PARSE_ARGS") ? "\n\n  npm start [-- --fresh]" : "";
    process.stderr.write(`${portMessage || hostMessage || error.message}${hint}\n`);
    return process.exit(code);
  };

const readStartOptions = () => {
  // Without this check the server would keep the state that the operator meant to delete.
  if (process.env["npm_config_fresh"] !== undefined)
    throw new Error("npm did not pass --fresh on. Run:\n\n  npm start -- --fresh");
  const { values } = parseArgs({ options: { fresh: { type: "boolean", default: false } } });
  return { ...readEnvironment(process.env), fresh: values.fresh };
};

const { fresh, ...environment } = await Promise.try(readStartOptions).catch(exitWith(2));
const started = start(environment, fresh).catch(exitWith(1));

const STOP_MESSAGES = {
  signal: "Finishing what is under way. Once more to stop at once.",
  npm_ended: "npm, which started this server, has ended. Finishing what is under way.",
};
// Installed before the start, so a signal during the start stops the process just as cleanly.
watchStopSignals({
  stop: (cause) => {
    process.stdout.write(`\n${STOP_MESSAGES[cause]}\n`);
    started.then((running) => running.stop()).then(() => process.exit(0), exitWith(1));
  },
  stopNow: () => process.exit(130),
});

const directory = resolve(environment.MAILPROOF_DIR);
const screen = formatFirstScreen(await started, { directory, isTerminal: process.stdout.isTTY });
process.stdout.write(screen);
