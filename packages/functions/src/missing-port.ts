/** Replaces a port that a Lambda lacks: every call throws an error with the reason. */
export const createMissingPort = <Port extends object>(why: string): Port =>
  new Proxy({} as Port, { get: () => () => Promise.reject(new Error(why)) });
