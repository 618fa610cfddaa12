/** Stands for a port that a Lambda does not have: every call fails, and says why. */
export const createMissingPort = <Port extends object>(why: string): Port =>
  new Proxy({} as Port, { get: () => () => Promise.reject(new Error(why)) });
