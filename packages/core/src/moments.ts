// What is reckoned from a moment that the world was asked for.

/** Whole seconds since 1970: the unit of `expires_at`, of windows and of signatures. */
export const epochSeconds = (at: Date): number => Math.floor(at.getTime() / 1000);

/** When the window began that a moment lies in, in epoch seconds: for every process the same. */
export const windowAt = (at: Date, windowSeconds: number): number => {
  const seconds = epochSeconds(at);
  return seconds - (seconds % windowSeconds);
};

export const inMs = (now: Date, ms: number): Date => new Date(now.getTime() + ms);

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;

/** The clocks of two processes differ by less: a stored time may lie so much further ahead than its writer meant. */
export const CLOCK_SKEW_MS = 60_000;

/**
 * Whether a stored "until" still holds. `longestMs` is the longest time for which it is ever set: one that lies further
 * ahead was written by a wrong clock, and is over.
 */
export const isAhead = (untilMs: number, nowMs: number, longestMs: number): boolean =>
  untilMs > nowMs && !isTooFarAhead(untilMs, nowMs, longestMs);

export const isTooFarAhead = (untilMs: number, nowMs: number, longestMs: number): boolean =>
  untilMs > nowMs + longestMs + CLOCK_SKEW_MS;

/** The day of UTC: "2026-03-01". */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
