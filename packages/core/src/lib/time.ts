// What is reckoned from a moment that the world was asked for.

/** Whole seconds since 1970: the unit of `expires_at`, of windows and of signatures. */
export const toEpochSeconds = (at: Date): number => Math.floor(at.getTime() / 1000);

/** When the window began that a moment lies in, in epoch seconds: for every process the same. */
export const getWindowStart = (at: Date, windowSeconds: number): number => {
  const seconds = toEpochSeconds(at);
  return seconds - (seconds % windowSeconds);
};

export const addMs = (now: Date, ms: number): Date => new Date(now.getTime() + ms);

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;

/** The clocks of two processes differ by less: a stored time may lie so much further ahead than its writer meant. */
export const CLOCK_SKEW_MS = 60_000;

/**
 * Whether a stored "until" still holds. `maxMs` is the longest time for which it is ever set: one that lies further
 * ahead was written by a wrong clock, and is over.
 */
export const isUnexpired = (untilMs: number, nowMs: number, maxMs: number): boolean =>
  untilMs > nowMs && !isTooFarAhead(untilMs, nowMs, maxMs);

export const isTooFarAhead = (untilMs: number, nowMs: number, maxMs: number): boolean =>
  untilMs > nowMs + maxMs + CLOCK_SKEW_MS;

/** The day of UTC: "2026-03-01". */
export const toUtcDay = (at: Date): string => at.toISOString().slice(0, 10);
