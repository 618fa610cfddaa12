import { resolve } from "node:path";
import { describeReach } from "@mailproof/core/egress/describe-reach";
import type { Environment } from "../environment.ts";
import { explainFolderFault } from "../storage/folder-faults.ts";
import { formatFirstScreen } from "./first-screen.ts";
import { type RunningServer, start } from "./start.ts";
import { watchStopSignals } from "./stop-signals.ts";

const STOP_MESSAGES = {
  signal: "Finishing what is under way. Once more to stop at once.",
  npm_ended: "npm, which started this server, has ended. Finishing what is under way.",
};

const HANG_UP_MESSAGE =
  "SIGHUP changes nothing: settings are read at startup. Restart the server to change them.";

/** The reader of the first screen or of the log may end, as `head` does. The server continues. */
const outliveOutput = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
};

/** Starts the server, prints its first screen, and returns when a signal has stopped it. */
export const serve = async (environment: Environment, isFresh: boolean): Promise<void> => {
  outliveOutput();
  const started = start(environment, isFresh, process.env).catch((error: StartFailure) => {
    const message = findAddressFault(error) ?? explainFolderFault(environment.MAILPROOF_DIR, error);
    throw message === undefined ? error : new Error(message, { cause: error });
  });
  const stopped = Promise.withResolvers<void>();
  // Installed before the start, so a signal during the start stops the process just as cleanly.
  watchStopSignals({
    stop: (cause) => {
      process.stdout.write(`\n${STOP_MESSAGES[cause]}\n`);
      stopped.resolve(started.then((running) => running.stop()));
    },
    stopNow: () => process.exit(130),
    hangUp: () => process.stdout.write(`\n${HANG_UP_MESSAGE}\n`),
  });
  const running = await started;
  printFirstScreen(running, environment);
  // The measurement lasts half a minute when no mail server answers, so the first screen does not wait for it.
  void running.reach.then((state) =>
    process.stdout.write(`  reach      ${describeReach({ state, refusedBy: [] })}\n`),
  );
  await stopped.promise;
};

const printFirstScreen = (running: RunningServer, { MAILPROOF_DIR }: Environment): void => {
  const options = { directory: resolve(MAILPROOF_DIR), isTerminal: process.stdout.isTTY };
  process.stdout.write(formatFirstScreen(running, options));
};

type StartFailure = NodeJS.ErrnoException & { readonly port?: number; readonly address?: string };

const findAddressFault = ({ code, syscall, port, address }: StartFailure): string | undefined => {
  if (code === "EADDRINUSE")
    return `Another program has port ${port}; set PORT, METRICS_PORT or MAIL_PORT to a free one, or to 0 for any.`;
  if (code === "EACCES" && syscall === "listen")
    return `This user may not listen on port ${port}: set PORT, METRICS_PORT or MAIL_PORT to 1024 or above, and put a proxy in front.`;
  if (code === "EMFILE")
    return "This process may not open enough files: raise the limit to 2000 or more (ulimit -n, LimitNOFILE= of systemd).";
  return code === "EADDRNOTAVAIL" && address !== undefined
    ? `HOST, METRICS_HOST or MAIL_HOST: ${address} is not an address of this machine.`
    : undefined;
};
