/**
 * What entries of the ledger, jobs and claims name as the reason of their debit. These are stored keys: each keeps the
 * spelling that the state of earlier releases has, whatever the way to the operation is called by now.
 */
export const REASONS = {
  verify: "POST /v1/verify",
  batch: "POST /v1/verify/batch",
  file: "POST /v1/verify/file",
  find: "POST /v1/find",
} as const;
