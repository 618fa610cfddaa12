/** The time and a pause are parameters, so that tests need no real time. */
export type Clock = {
  readonly now: () => Date;
  /** Resolves early, without an error, when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};
