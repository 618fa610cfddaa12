/** The time and a pause are parameters, so that tests need no real time. */
export type Clock = {
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};
