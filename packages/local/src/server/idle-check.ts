import { performance } from "node:perf_hooks";

export const IDLE_WINDOW_MS = 50;
/** Above this share of its time at work, the thread starts less work. */
const BUSY_SHARE = 0.7;

/** Tells whether the thread was idle lately. Each true allows one start; then the check measures again. */
export const createIdleCheck = (): (() => boolean) => {
  let since = performance.eventLoopUtilization();
  return () => {
    const { idle, active, utilization } = performance.eventLoopUtilization(since);
    if (idle + active < IDLE_WINDOW_MS) return false;
    since = performance.eventLoopUtilization();
    return utilization < BUSY_SHARE;
  };
};
