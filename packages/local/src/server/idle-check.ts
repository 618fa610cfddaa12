import { performance } from "node:perf_hooks";

export const IDLE_WINDOW_MS = 50;
/** Above this share of its time at work, the thread starts less work. */
const BUSY_SHARE = 0.7;

/** Whether the thread had idle time lately. Each yes is for one start; then it measures again. */
export const createIdleCheck = (): (() => boolean) => {
  let since = performance.eventLoopUtilization();
  return () => {
    const { idle, active, utilization } = performance.eventLoopUtilization(since);
    if (idle + active < IDLE_WINDOW_MS) return false;
    since = performance.eventLoopUtilization();
    return utilization < BUSY_SHARE;
  };
};
