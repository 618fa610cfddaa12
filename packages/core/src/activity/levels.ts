import { dayOf, daysBefore, daysBetween } from "./days.ts";
import type { Known } from "./items.ts";

export const LEVELS = ["high", "medium", "low", "unknown"] as const;
export type Level = (typeof LEVELS)[number];

/** The contract's windows. */
const HIGH_DAYS = 30;
const MEDIUM_DAYS = 90;

/** What is told of one address. Null is what nobody knows; it is never told as 0. */
export type Activity = {
  /** When the person last opened or clicked. */
  readonly lastSeen: string | null;
  readonly lastOpen: string | null;
  readonly lastClick: string | null;
  readonly level: Level;
  readonly opens: number;
  readonly clicks: number;
  readonly opensLast30Days: number;
  readonly clicksLast30Days: number;
  /** Opens and clicks of programs, which count for nothing else. */
  readonly machine: number;
  readonly rates: Rates;
};

/** Each from 0 to 1, or null when there was nothing to divide by. */
export type Rates = {
  readonly inbox: number | null;
  readonly spam: number | null;
  readonly bounce: number | null;
};

export const activityOf = (known: Known, now: Date): Activity => {
  const { lastOpen, lastClick, opens, clicks, machine, since } = known;
  const lastSeen =
    [lastOpen, lastClick]
      .filter((at) => at !== null)
      .toSorted()
      .at(-1) ?? null;
  const from = daysBefore(now, HIGH_DAYS);
  const lately = Object.entries(known.days).filter(([day]) => day >= from);
  return {
    lastSeen,
    lastOpen,
    lastClick,
    level: levelOf(lastSeen, since, now),
    opens,
    clicks,
    opensLast30Days: sum(lately.map(([, [, some]]) => some)),
    clicksLast30Days: sum(lately.map(([, [, , some]]) => some)),
    machine,
    rates: ratesOf(known),
  };
};

/**
 * By the last time somebody opened or clicked. Nobody ever did: after ninety days of trying that is low, and before it
 * is not known.
 */
export const levelOf = (lastSeen: string | null, since: string, now: Date): Level => {
  const daysSince = (at: string) => daysBetween(at.slice(0, 10), dayOf(now));
  if (lastSeen === null) return daysSince(since) > MEDIUM_DAYS ? "low" : "unknown";
  if (daysSince(lastSeen) <= HIGH_DAYS) return "high";
  return daysSince(lastSeen) <= MEDIUM_DAYS ? "medium" : "low";
};

/**
 * Of what was sent, the share that bounced; of what was delivered, the share that was complained about; and of what was
 * sent, the share that was delivered without a complaint. A mail that was taken and then bounced is in both counts.
 */
const ratesOf = ({
  delivered,
  bounced,
  complained,
}: Pick<Known, "delivered" | "bounced" | "complained">): Rates => ({
  inbox: share(Math.max(0, delivered - complained), delivered + bounced),
  spam: share(complained, delivered),
  bounce: share(bounced, delivered + bounced),
});

const RATE_DIGITS = 4;

/** A share is at most the whole: events come in any order, and some never do. */
export const share = (part: number, whole: number): number | null =>
  whole === 0 ? null : Number(Math.min(1, part / whole).toFixed(RATE_DIGITS));

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);
