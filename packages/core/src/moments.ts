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

/** The day of UTC: "2026-03-01". */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
