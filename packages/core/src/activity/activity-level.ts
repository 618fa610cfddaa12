import { toUtcDay } from "../lib/time.ts";
import { countDaysBetween, subtractDays } from "./days.ts";
import type { AddressRecord } from "./items.ts";

export const ACTIVITY_LEVELS = ["high", "medium", "low", "unknown"] as const;
export type ActivityLevel = (typeof ACTIVITY_LEVELS)[number];

/** The contract defines these windows. */
const HIGH_DAYS = 30;
const MEDIUM_DAYS = 90;

/** The activity of one address. Unknown values are null, never 0. */
export type Activity = {
  /** The later of the last open and the last click. */
  readonly lastSeen: string | null;
  readonly lastOpen: string | null;
  readonly lastClick: string | null;
  readonly level: ActivityLevel;
  readonly opens: number;
  readonly clicks: number;
  readonly opensLast30Days: number;
  readonly clicksLast30Days: number;
  /** Opens and clicks by programs; no other field counts them. */
  readonly machine: number;
  readonly rates: ActivityRates;
};

/** Shares from 0 to 1; null when the denominator is 0. */
export type ActivityRates = {
  readonly inbox: number | null;
  readonly spam: number | null;
  readonly bounce: number | null;
};

export const toActivity = (record: AddressRecord, now: Date): Activity => {
  const { lastOpen, lastClick, opens, clicks, machine, since } = record;
  const lastSeen =
    [lastOpen, lastClick]
      .filter((at) => at !== null)
      .toSorted()
      .at(-1) ?? null;
  const from = subtractDays(now, HIGH_DAYS);
  const recentDays = Object.entries(record.days).filter(([day]) => day >= from);
  return {
    lastSeen,
    lastOpen,
    lastClick,
    level: getActivityLevel(lastSeen, since, now),
    opens,
    clicks,
    opensLast30Days: sum(recentDays.map(([, [, some]]) => some)),
    clicksLast30Days: sum(recentDays.map(([, [, , some]]) => some)),
    machine,
    rates: toRates(record),
  };
};

/** Derives the level from the last open or click. Without either, the level is "low" after ninety days of mail and "unknown" before. */
export const getActivityLevel = (
  lastSeen: string | null,
  since: string,
  now: Date,
): ActivityLevel => {
  const daysSince = (at: string) => countDaysBetween(at.slice(0, 10), toUtcDay(now));
  if (lastSeen === null) return daysSince(since) > MEDIUM_DAYS ? "low" : "unknown";
  if (daysSince(lastSeen) <= HIGH_DAYS) return "high";
  return daysSince(lastSeen) <= MEDIUM_DAYS ? "medium" : "low";
};

/**
 * Bounces per sent mail, complaints per delivered mail, and mail delivered without a complaint per sent mail. Mail that a
 * server accepted and bounced later counts as delivered and as bounced.
 */
const toRates = ({
  delivered,
  bounced,
  complained,
}: Pick<AddressRecord, "delivered" | "bounced" | "complained">): ActivityRates => ({
  inbox: toShare(Math.max(0, delivered - complained), delivered + bounced),
  spam: toShare(complained, delivered),
  bounce: toShare(bounced, delivered + bounced),
});

const RATE_DIGITS = 4;

/** At most 1, because events arrive in any order, and some never arrive. */
export const toShare = (part: number, whole: number): number | null =>
  whole === 0 ? null : Number(Math.min(1, part / whole).toFixed(RATE_DIGITS));

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);
