import { query } from "../../router.ts";

export const PERIODS = [7, 30, 90, 365] as const;
const DEFAULT = 30;
const DAY_MS = 86_400_000;

export type Period = { readonly days: number; readonly from: string; readonly to: string };

const toUtcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Reads the number of days from the URL, up to today. A day of usage is a day in UTC. */
export const readPeriod = (): Period => {
  const asked = Number(query.value.get("days"));
  const days = PERIODS.find((one) => one === asked) ?? DEFAULT;
  const now = Date.now();
  return { days, from: toUtcDay(now - (days - 1) * DAY_MS), to: toUtcDay(now) };
};
