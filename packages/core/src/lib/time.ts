/** Seconds since 1970: the unit of `expires_at`, of windows and of signatures. */
export const toEpochSeconds = (at: Date): number => Math.floor(at.getTime() / 1000);

/** Returns the start of the window that contains `at`, in epoch seconds, equal in every process. */
export const getWindowStart = (at: Date, windowSeconds: number): number => {
  const seconds = toEpochSeconds(at);
  return seconds - (seconds % windowSeconds);
};

export const addMs = (now: Date, ms: number): Date => new Date(now.getTime() + ms);

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;

/** The clocks of two processes differ by less than a minute, so a stored time may be up to a minute later than its writer intended. */
export const CLOCK_SKEW_MS = 60_000;

/**
 * Tests whether a stored end time is in the future. `maxMs` is the longest time ahead that the service ever stores: a later
 * time comes from a wrong clock and counts as expired.
 */
export const isUnexpired = (untilMs: number, nowMs: number, maxMs: number): boolean =>
  untilMs > nowMs && !isTooFarAhead(untilMs, nowMs, maxMs);

export const isTooFarAhead = (untilMs: number, nowMs: number, maxMs: number): boolean =>
  untilMs > nowMs + maxMs + CLOCK_SKEW_MS;

/** Such as "2026-03-01". */
export const toUtcDay = (at: Date): string => at.toISOString().slice(0, 10);
