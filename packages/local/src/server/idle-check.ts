import { performance } from "node:perf_hooks";

export const IDLE_WINDOW_MS = 50;
/** Above this share of its time at work, the thread starts less work. */
const BUSY_SHARE = 0.7;

/** For sessions, of which each start is little work: a longer look or more idle time would leave the thread unused. */
export const SESSION_IDLE = { windowMs: 25, busyShare: 0.8 } as const;

/** Tells whether the thread was idle lately. Each true allows one start; then the check measures again. */
export const createIdleCheck = ({
  windowMs = IDLE_WINDOW_MS,
  busyShare = BUSY_SHARE,
}: {
  readonly windowMs?: number;
  readonly busyShare?: number;
} = {}): (() => boolean) => {
  let since = performance.eventLoopUtilization();
  return () => {
    const { idle, active, utilization } = performance.eventLoopUtilization(since);
    if (idle + active < windowMs) return false;
    since = performance.eventLoopUtilization();
    return utilization < busyShare;
  };
};
