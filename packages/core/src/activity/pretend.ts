import type { Address } from "../mail/address.ts";
import { dayOf } from "../moments.ts";
import { wordOf } from "../verify/pretend.ts";
import { daysBefore } from "./days.ts";
import { type Activity, levelOf } from "./levels.ts";
import { type DomainActivity, NO_REPUTATION, type Reputation } from "./reputation.ts";

// What test keys are told. docs/test-keys.md says the same.

/** Days since the last open, by the word that the local part begins with. Null: nothing is known of the address. */
export const PRETEND_DAYS: Readonly<Record<string, number | null>> = {
  high: 2,
  medium: 45,
  low: 120,
  unknown: null,
};

const ANY_OTHER = "high";

/** The same each time of one day: the moments are so many days before it. */
export const pretendActivity = ({ local }: Address, now: Date): Activity | undefined => {
  const word = wordOf(local);
  const days = PRETEND_DAYS[Object.hasOwn(PRETEND_DAYS, word) ? word : ANY_OTHER] ?? null;
  if (days === null) return undefined;
  const lastOpen = `${daysBefore(now, days)}T09:30:00.000Z`;
  const lastClick = `${daysBefore(now, days + 5)}T09:31:00.000Z`;
  const level = levelOf(lastOpen, lastClick, now);
  const isLately = level === "high";
  return {
    lastSeen: lastOpen,
    lastOpen,
    lastClick,
    level,
    opens: 12,
    clicks: 3,
    opensLast30Days: isLately ? 4 : 0,
    clicksLast30Days: isLately ? 1 : 0,
    machine: 2,
    rates: { inbox: 0.96, spam: 0, bounce: 0.04 },
  };
};

const GOOD: DomainActivity = {
  score: 88,
  level: "good",
  trend: "stable",
  people: 250,
  engagement: 0.24,
  bounce: 0.012,
  spam: 0.0002,
};
const POOR: DomainActivity = {
  score: 22,
  level: "poor",
  trend: "declining",
  people: 250,
  engagement: 0.05,
  bounce: 0.051,
  spam: 0.004,
};

type PretendedDomain = { readonly activity: DomainActivity; readonly listed: boolean | null };

/** The same for domains, by their first label. */
export const PRETEND_REPUTATIONS: Readonly<Record<string, PretendedDomain>> = {
  poor: { activity: POOR, listed: false },
  listed: { activity: GOOD, listed: true },
  /** Too few addresses to tell of, and no blocklist that gave a verdict. */
  unknown: { activity: NO_REPUTATION, listed: null },
};

export const pretendReputation = (domain: string, now: Date): Reputation => {
  const label = domain.split(".")[0] ?? "";
  const { activity, listed } = (Object.hasOwn(PRETEND_REPUTATIONS, label) &&
    PRETEND_REPUTATIONS[label]) || { activity: GOOD, listed: false };
  return { ...activity, blacklist: { listed, checkedAt: `${dayOf(now)}T00:00:00.000Z` } };
};
