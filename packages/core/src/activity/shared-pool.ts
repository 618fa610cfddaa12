/** The owner of the shared pool's records, if the operator enables it. No account has such an id. */
export const SHARED_POOL = "~pool";

/** The least number of contributing accounts; with fewer, the pool would reveal the activity of a single account. */
export const CONTRIBUTORS_MIN = 3;
