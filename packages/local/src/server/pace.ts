/**
 * How fast a client sends or reads bytes. Only time spent waiting for the client counts, by a monotonic clock: delays
 * of this process are not the client's fault.
 */
export type Pace = {
  readonly waitFor: <T>(step: Promise<T>) => Promise<T>;
  readonly addBytes: (count: number) => void;
  readonly isTooSlow: () => boolean;
};

/** At twice this rate the largest file takes an hour and a half, slower than any usual connection. */
export const BYTES_PER_SECOND_MIN = 5_000;
/** Buffers of the system and of proxies fill and empty at once, and a connection may stall for a moment. */
export const GRACE_MS = 30_000;

export const createPace = (clockMs: () => number = () => performance.now()): Pace => {
  let waitedMs = 0;
  let bytes = 0;
  return {
    waitFor: async (step) => {
      const from = clockMs();
      try {
        return await step;
      } finally {
        waitedMs += clockMs() - from;
      }
    },
    addBytes: (count) => {
      bytes += count;
    },
    isTooSlow: () => waitedMs > GRACE_MS && (bytes * 1000) / waitedMs < BYTES_PER_SECOND_MIN,
  };
};
