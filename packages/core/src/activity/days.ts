import { DAY_MS, toUtcDay } from "../lib/time.ts";

// Activity is counted by days of UTC. A window of the last n days is today, as far as it has gone, and the n days
// before it: what happened within the last n times 24 hours is always in.

export const subtractDays = (now: Date, days: number): string =>
  toUtcDay(new Date(now.getTime() - days * DAY_MS));

/** How many midnights lie between the two. */
export const countDaysBetween = (day: string, later: string): number =>
  (Date.parse(later) - Date.parse(day)) / DAY_MS;

/** Epoch seconds of the moment when a day is so many days past. */
export const getExpiry = (day: string, retentionDays: number): number =>
  (Date.parse(day) + (retentionDays + 1) * DAY_MS) / 1000;
