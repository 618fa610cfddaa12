/** Time and chance, so that tests need not wait. */
export type ClientClock = {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
};

export const SYSTEM_CLOCK: ClientClock = {
  /** Ends early, and in peace, when the signal comes: whoever slept looks at it then. */
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done);
    }),
  random: Math.random,
};
