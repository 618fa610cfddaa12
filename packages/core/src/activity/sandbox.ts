import type { Address } from "@mailproof/mail/address";
import { toUtcDay } from "../lib/time.ts";
import { getLeadingWord } from "../verify/sandbox.ts";
import { type Activity, getActivityLevel } from "./activity-level.ts";
import { subtractDays } from "./days.ts";
import { type DomainActivity, type DomainReputation, NO_REPUTATION } from "./reputation.ts";

// Responses for test keys, documented in docs/test-keys.md.

/** Days since the last open, by the first word of the local part. Null when the address has no activity. */
export const SANDBOX_DAYS: Readonly<Record<string, number | null>> = {
  high: 2,
  medium: 45,
  low: 120,
  unknown: null,
};

const DEFAULT_WORD = "high";

/** Returns the same activity all day: all times are relative to the day. */
export const getSandboxActivity = ({ local }: Address, now: Date): Activity | undefined => {
  const word = getLeadingWord(local);
  const days = SANDBOX_DAYS[Object.hasOwn(SANDBOX_DAYS, word) ? word : DEFAULT_WORD] ?? null;
  if (days === null) return undefined;
  const lastOpen = `${subtractDays(now, days)}T09:30:00.000Z`;
  const lastClick = `${subtractDays(now, days + 5)}T09:31:00.000Z`;
  const level = getActivityLevel(lastOpen, lastClick, now);
  const isRecent = level === "high";
  return {
    lastSeen: lastOpen,
    lastOpen,
    lastClick,
    level,
    opens: 12,
    clicks: 3,
    opensLast30Days: isRecent ? 4 : 0,
    clicksLast30Days: isRecent ? 1 : 0,
    machine: 2,
    rates: { inbox: 0.96, spam: 0, bounce: 0.04 },
  };
};

const GOOD: DomainActivity = {
  score: 88,
  level: "good",
  trend: "stable",
  activeAddresses: 250,
  engagement: 0.24,
  bounce: 0.012,
  spam: 0.0002,
};
const POOR: DomainActivity = {
  score: 22,
  level: "poor",
  trend: "declining",
  activeAddresses: 250,
  engagement: 0.05,
  bounce: 0.051,
  spam: 0.004,
};

type SandboxDomain = { readonly activity: DomainActivity; readonly listed: boolean | null };

export const SANDBOX_REPUTATIONS: Readonly<Record<string, SandboxDomain>> = {
  poor: { activity: POOR, listed: false },
  listed: { activity: GOOD, listed: true },
  /** The domain has too few addresses to report, and no blocklist gave a verdict. */
  unknown: { activity: NO_REPUTATION, listed: null },
};

export const getSandboxReputation = (domain: string, now: Date): DomainReputation => {
  const label = domain.split(".")[0] ?? "";
  const { activity, listed } = (Object.hasOwn(SANDBOX_REPUTATIONS, label) &&
    SANDBOX_REPUTATIONS[label]) || { activity: GOOD, listed: false };
  return { ...activity, blocklist: { listed, checkedAt: `${toUtcDay(now)}T00:00:00.000Z` } };
};
