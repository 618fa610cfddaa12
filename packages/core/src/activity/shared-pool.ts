/** The owner of what accounts bring in together, where an operator lets them. No account has such an id. */
export const SHARED_POOL = "~pool";

/** So many accounts must have told something, or what the pool knows could be read as one account's. */
export const CONTRIBUTORS_MIN = 3;
