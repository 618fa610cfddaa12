// Written by scripts/lists/sign.ts.

/** The signature of the shipped edition, by the key of public-key.ts. */
export const EDITION_SIGNATURE =
  "8mDz56BVtCuPmikugt2WVwy2rIysVL3Xcc9JpoqWplD1/FmFWvCWuwIJ8mzDplofGSFWgx2KDedaxEGyzgEpDg==";
