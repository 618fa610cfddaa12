import { isatty } from "node:tty";

// This process stops at a signal, or when the npm process that started it has ended.

/**
 * A terminal and systemd signal every process of a group, and npm forwards what it receives: the server then receives
 * one signal twice. A second one within this time of the first counts as the same signal.
 */
const SAME_SIGNAL_MS = 1_000;
const PARENT_CHECK_MS = 500;

export type StopHandlers = {
  /** Called once, at the first signal or when npm has ended. */
  readonly stop: (cause: "signal" | "npm_ended") => void;
  /** Called at a second signal. */
  readonly stopNow: () => void;
  /** Called at a SIGHUP that an operator sent. */
  readonly hangUp: () => void;
};

export const watchStopSignals = ({ stop, stopNow, hangUp }: StopHandlers): void => {
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
