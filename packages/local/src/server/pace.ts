/**
 * How fast a client sends or takes bytes. Only time spent waiting for the client counts, by a clock that never jumps:
 * what is slow on this side is not the client's fault.
 */
export type Pace = {
  readonly waitFor: <T>(step: Promise<T>) => Promise<T>;
  readonly addBytes: (count: number) => void;
  readonly isTooSlow: () => boolean;
};

/** At twice this, the largest file takes an hour and a half: slower than any line that a list is sent over. */
export const BYTES_PER_SECOND_MIN = 5_000;
/** Buffers of the system and of proxies fill and empty at once; a line may fail for a moment. */
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
