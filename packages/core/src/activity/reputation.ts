import { ownerOf, type Payer } from "../access/payer.ts";
import { everyItem } from "../every-item.ts";
import { dayOf } from "../moments.ts";
import type { World } from "../world.ts";
import { daysBefore } from "./days.ts";
import { domainHash } from "./hashes.ts";
import { type DaySums, daysOf, type Listed, readDay, SHARDS } from "./items.ts";
import { share } from "./levels.ts";
import { MARKS_ENOUGH, POOL } from "./pool.ts";

/**
 * Nothing is told of a domain of which fewer addresses were heard: what five people did together is soon read as what
 * one of them did.
 */
export const GROUP_MIN = 20;

const WINDOW_DAYS = 30;

export const REPUTATION_LEVELS = ["excellent", "good", "fair", "poor", "unknown"] as const;
export type ReputationLevel = (typeof REPUTATION_LEVELS)[number];

export const TRENDS = ["improving", "stable", "declining", "unknown"] as const;
export type Trend = (typeof TRENDS)[number];

/** Null is what nobody knows, or what would tell of too few. */
export type DomainActivity = {
  readonly score: number | null;
  readonly level: ReputationLevel;
  readonly trend: Trend;
  readonly people: number | null;
  readonly engagement: number | null;
  readonly bounce: number | null;
  readonly spam: number | null;
};

export type Reputation = DomainActivity & { readonly blacklist: Listed };

export const NO_REPUTATION: DomainActivity = {
  score: null,
  level: "unknown",
  trend: "unknown",
  people: null,
  engagement: null,
  bounce: null,
  spam: null,
};

/** What an account may know of how the addresses of a domain take mail. `domain` is in A-labels. */
export const domainActivity = async (
  world: World,
  payer: Payer,
  domain: string,
): Promise<DomainActivity> => {
  const now = world.now();
  if (world.settings.activityPool === "shared") {
    const pooled = await shardsOf(world, POOL, domain);
    const marks = new Set(pooled.flat().flatMap((day) => day.marks));
    if (marks.size >= MARKS_ENOUGH) return reputationOf(pooled, now);
  }
  return reputationOf(await shardsOf(world, ownerOf(payer), domain), now);
};

/** The days of both windows, by shard. */
const shardsOf = (world: World, owner: string, domain: string): Promise<DaySums[][]> => {
  const hash = domainHash(world, owner, domain);
  const now = world.now();
  const sk = { from: daysBefore(now, 2 * WINDOW_DAYS + 1), to: dayOf(now) };
  return Promise.all(
    Array.from({ length: SHARDS }, (_, shard) =>
      Array.fromAsync(everyItem(world.table, { pk: daysOf(hash, shard), sk }), readDay),
    ),
  );
};

export const reputationOf = (
  shards: readonly (readonly DaySums[])[],
  now: Date,
): DomainActivity => {
  const from = daysBefore(now, WINDOW_DAYS);
  const lately = shards.map((days) => days.filter(({ day }) => day >= from));
  const before = shards.map((days) => days.filter(({ day }) => day < from));
  const people = sumOf(lately, "people");
  if (people < GROUP_MIN) return NO_REPUTATION;
  const metrics = metricsOf(lately);
  const score = scoreOf(metrics);
  const earlier = peopleAtLeast(before) < GROUP_MIN ? null : scoreOf(metricsOf(before));
  return { score, level: levelOf(score), trend: trendOf(score, earlier), people, ...metrics };
};

type Metrics = Pick<DomainActivity, "engagement" | "bounce" | "spam">;
type Shards = readonly (readonly DaySums[])[];

const sumOf = (shards: Shards, field: keyof DaySums): number =>
  shards.flat().reduce((sum, day) => sum + Number(day[field]), 0);

/** How many there were in a window that is over is not kept; on its busiest day each shard had no more than there were. */
const peopleAtLeast = (shards: Shards): number =>
  shards.reduce((sum, days) => sum + Math.max(0, ...days.map(({ heard }) => heard)), 0);

const metricsOf = (shards: Shards): Metrics => {
  const [delivered, bounced] = [sumOf(shards, "delivered"), sumOf(shards, "bounced")];
  return {
    engagement: share(sumOf(shards, "engaged"), delivered),
    bounce: share(bounced, delivered + bounced),
    spam: share(sumOf(shards, "complained"), delivered),
  };
};

/** What a domain's score is made of: full marks at `best`, none at `worst`, and a straight line between. */
export const SCORE_PARTS = [
  { of: "engagement", points: 40, best: 0.3, worst: 0 },
  { of: "bounce", points: 30, best: 0.005, worst: 0.1 },
  // Three in a thousand is where large receivers begin to refuse a sender.
  { of: "spam", points: 30, best: 0, worst: 0.003 },
] as const satisfies readonly {
  readonly of: keyof Metrics;
  readonly points: number;
  readonly best: number;
  readonly worst: number;
}[];

/** Null when one of them is not known: where nothing was delivered there is nothing to judge. */
const scoreOf = (metrics: Metrics): number | null => {
  const parts = SCORE_PARTS.map(({ of, points, best, worst }) => {
    const rate = metrics[of];
    const reached = rate === null ? null : (rate - worst) / (best - worst);
    return reached === null ? null : points * Math.min(1, Math.max(0, reached));
  });
  const known = parts.filter((part) => part !== null);
  if (known.length < parts.length) return null;
  return Math.round(known.reduce((sum, part) => sum + part, 0));
};

/** The bands of the contract's quality score. */
const levelOf = (score: number | null): ReputationLevel => {
  if (score === null) return "unknown";
  if (score >= 90) return "excellent";
  if (score >= 70) return "good";
  return score >= 50 ? "fair" : "poor";
};

const STABLE_POINTS = 5;

const trendOf = (score: number | null, earlier: number | null): Trend => {
  if (score === null || earlier === null) return "unknown";
  if (Math.abs(score - earlier) <= STABLE_POINTS) return "stable";
  return score > earlier ? "improving" : "declining";
};
