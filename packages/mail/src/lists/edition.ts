// Written by scripts/lists/build.mjs, from the version in scripts/lists/package.json.

/** The day of the lists that this code ships with: the version of all of them together. */
export const EDITION = "2026.11.29";
