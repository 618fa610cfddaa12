/**
 * A server that greylists, or is busy, wants to see us again, but not at once. After each pass over the rows of a
 * chunk, those it put off wait so long for the next; what it puts off even then will not be found out.
 */
export const COME_AGAIN_AFTER_MS = [6 * 60_000, 30 * 60_000] as const;
