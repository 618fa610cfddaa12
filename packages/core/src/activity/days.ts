import { DAY_MS, toUtcDay } from "../lib/time.ts";

// Activity is counted by UTC day. A window of n days is the current day and the n days before it, so it always includes the
// last n times 24 hours.

export const subtractDays = (now: Date, days: number): string =>
  toUtcDay(new Date(now.getTime() - days * DAY_MS));

export const countDaysBetween = (day: string, later: string): number =>
  (Date.parse(later) - Date.parse(day)) / DAY_MS;

/** Returns the end of a day's retention in epoch seconds. */
export const getExpiry = (day: string, retentionDays: number): number =>
  (Date.parse(day) + (retentionDays + 1) * DAY_MS) / 1000;
