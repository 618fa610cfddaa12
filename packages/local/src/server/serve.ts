import { resolve } from "node:path";
import { isatty } from "node:tty";
import { describeReach } from "@mailproof/core/egress/describe-reach";
import type { Environment } from "../environment.ts";
import { explainFolderFault } from "../storage/folder-faults.ts";
import { formatFirstScreen } from "./first-screen.ts";
import { type RunningServer, start } from "./start.ts";

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

// This process stops at a signal, or when the npm process that started it has ended.

/**
 * A terminal and systemd signal every process of a group, and npm forwards what it receives: the server then receives
 * one signal twice. A second one within this time of the first counts as the same signal.
 */
const SAME_SIGNAL_MS = 1_000;
const PARENT_CHECK_MS = 500;

type StopHandlers = {
  /** Called once, at the first signal or when npm has ended. */
  readonly stop: (cause: "signal" | "npm_ended") => void;
  /** Called at a second signal. */
  readonly stopNow: () => void;
  /** Called at a SIGHUP that an operator sent. */
  readonly hangUp: () => void;
};

const watchStopSignals = ({ stop, stopNow, hangUp }: StopHandlers): void => {
  let stoppedAtMs: number | null = null;
  const stopOnce = (cause: "signal" | "npm_ended") => {
    stoppedAtMs = performance.now();
    stop(cause);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      if (stoppedAtMs === null) stopOnce("signal");
      else if (performance.now() - stoppedAtMs > SAME_SIGNAL_MS) stopNow();
    });
  // A closing terminal sends SIGHUP, and ends this process as Ctrl-C does. Elsewhere SIGHUP asks a daemon for new settings, and
  // systemd does not restart a service that SIGHUP ended.
  const isOnTerminal = isatty(0);
  process.on("SIGHUP", () => {
    if (!isOnTerminal) hangUp();
    else if (stoppedAtMs === null) stopOnce("signal");
  });
  if (isStartedByNpm(process.env))
    watchParent(() => {
      if (stoppedAtMs === null) stopOnce("npm_ended");
    });
};

/** A server that systemd, nohup or another program starts with node directly outlives its parent. */
const isStartedByNpm = (env: NodeJS.ProcessEnv): boolean =>
  env["npm_lifecycle_event"] === "start" && env["npm_package_name"] === "mailproof";

/** `npm start` replaces its shell by this process (exec), so the parent is npm. A kill -9 of npm forwards nothing. */
const watchParent = (onEnd: () => void): void => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onEnd();
  }, PARENT_CHECK_MS);
  timer.unref();
};
