import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { onTestFinished, vi } from "vitest";

/** Waits until the check passes. Vitest's own second is less than a busy machine needs for a turn of the event loop. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 100_000 });

/**
 * Ends a process with its test, not with its file: workers share files, and a hook here would belong to the first of
 * them. Waits until it has ended: until then it may write into a folder that the next hook removes.
 */
export const endWithTest = <Child extends ChildProcess>(child: Child): Child => {
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });
  return child;
};
