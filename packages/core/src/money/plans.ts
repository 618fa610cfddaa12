/**
 * All limits that depend on the plan. `requestsPerMinute` limits one key, `accountRequestsPerMinute` all keys of a mode
 * together: a flood by one key leaves the others two thirds. `balanceShards`: the number of items that share the charges of an
 * account, enough for the rates of several keys (funding.ts).
 */
export const PLANS = {
  free: {
    jobAddressesMax: 1_000,
    requestsPerMinute: 60,
    accountRequestsPerMinute: 180,
    retentionDays: 7,
    centsPerMonth: 0,
    balanceShards: 1,
  },
  pro: {
    jobAddressesMax: 100_000,
    requestsPerMinute: 600,
    accountRequestsPerMinute: 1_800,
    retentionDays: 30,
    centsPerMonth: 4_900,
    balanceShards: 8,
  },
  scale: {
    jobAddressesMax: 500_000,
    requestsPerMinute: 3_000,
    accountRequestsPerMinute: 9_000,
    retentionDays: 90,
    centsPerMonth: 29_900,
    balanceShards: 96,
  },
} as const;

export type PlanId = keyof typeof PLANS;

export const PLAN_IDS = Object.keys(PLANS) as PlanId[];

/** Prices are in US cents, before tax. */
export const CREDIT_PACKS = [
  { id: "pack_5k", credits: 5_000, cents: 1_500 },
  { id: "pack_25k", credits: 25_000, cents: 6_000 },
  { id: "pack_100k", credits: 100_000, cents: 18_000 },
  { id: "pack_1m", credits: 1_000_000, cents: 95_000 },
] as const;
