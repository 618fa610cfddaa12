/** The owner of the shared pool's records, if the operator enables the pool. No account has this id. */
export const SHARED_POOL = "~pool";

/** With fewer contributing accounts, the pool would reveal the activity of a single account. */
export const CONTRIBUTORS_MIN = 3;
