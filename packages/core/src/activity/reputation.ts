import { listDomainHashes } from "../accounts/hashes.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { toUtcDay } from "../lib/time.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import { toShare } from "./activity-level.ts";
import { subtractDays } from "./days.ts";
import {
  type BlocklistStatus,
  CONTRIBUTORS_MIN,
  type DaySums,
  readDay,
  SHARDS,
  SHARED_POOL,
  toDaysPartition,
} from "./items.ts";

/** A report about a domain needs at least 20 active addresses, because the sums of five people reveal too much about each. */
const ADDRESSES_MIN = 20;

const WINDOW_DAYS = 30;

export const REPUTATION_LEVELS = ["excellent", "good", "fair", "poor", "unknown"] as const;
export type ReputationLevel = (typeof REPUTATION_LEVELS)[number];

export const TRENDS = ["improving", "stable", "declining", "unknown"] as const;
export type Trend = (typeof TRENDS)[number];

/** Null when the value is unknown, or withheld because the domain has too few addresses. */
export type DomainActivity = {
  readonly score: number | null;
  readonly level: ReputationLevel;
  readonly trend: Trend;
  readonly activeAddresses: number | null;
  readonly engagement: number | null;
  readonly bounce: number | null;
  readonly spam: number | null;
};

export type DomainReputation = DomainActivity & { readonly blocklist: BlocklistStatus };

export const NO_REPUTATION: DomainActivity = {
  score: null,
  level: "unknown",
  trend: "unknown",
  activeAddresses: null,
  engagement: null,
  bounce: null,
  spam: null,
};

/** Returns the activity of a domain's addresses that the account may see. `domain` is in A-labels. */
export const findDomainActivity = async (
  world: World,
  payer: Payer,
  domain: string,
): Promise<DomainActivity> => {
  const now = world.now();
  if (world.settings.activityPool === "shared") {
    const pooled = await listShardDays(world, SHARED_POOL, domain);
    // Tags by the key before would count each account twice.
    const contributorTags = new Set(pooled[0]?.flat().flatMap((day) => day.marks));
    if (contributorTags.size >= CONTRIBUTORS_MIN) return toDomainActivity(pooled, now);
  }
  return toDomainActivity(await listShardDays(world, getOwnerId(payer), domain), now);
};

/** Reads the daily sums of each shard, under each hash that the domain has had. */
const listShardDays = (world: World, owner: string, domain: string): Promise<DaySums[][][]> => {
  const now = world.now();
  const sk = { from: subtractDays(now, 2 * WINDOW_DAYS + 1), to: toUtcDay(now) };
  const listOf = (hash: string): Promise<DaySums[][]> =>
    Promise.all(
      Array.from({ length: SHARDS }, (_, shard) =>
        Array.fromAsync(
          paginateQuery(world.table, { pk: toDaysPartition(hash, shard), sk }),
          readDay,
        ),
      ),
    );
  return Promise.all(listDomainHashes(world, owner, domain).map(listOf));
};

const toDomainActivity = (byHash: readonly Shards[], now: Date): DomainActivity => {
  const from = subtractDays(now, WINDOW_DAYS);
  const recent = byHash.flat().map((days) => days.filter(({ day }) => day >= from));
  const earlierByHash = byHash.map((shards) =>
    shards.map((days) => days.filter(({ day }) => day < from)),
  );
  const people = sumField(recent, "people");
  if (people < ADDRESSES_MIN) return NO_REPUTATION;
  const metrics = toMetrics(recent);
  const score = toScore(metrics);
  // Each hash may count the same addresses, so their estimates are not added up.
  const earlier =
    Math.max(...earlierByHash.map(estimateActiveAddresses)) < ADDRESSES_MIN
      ? null
      : toScore(toMetrics(earlierByHash.flat()));
  return {
    score,
    level: toReputationLevel(score),
    trend: toTrend(score, earlier),
    activeAddresses: people,
    ...metrics,
  };
};

type Metrics = Pick<DomainActivity, "engagement" | "bounce" | "spam">;
type Shards = readonly (readonly DaySums[])[];

const sumField = (shards: Shards, field: keyof DaySums): number =>
  shards.flat().reduce((sum, day) => sum + Number(day[field]), 0);

/** The number of active addresses in a past window is not stored. The busiest day of each shard gives a lower bound. */
const estimateActiveAddresses = (shards: Shards): number =>
  shards.reduce((sum, days) => sum + Math.max(0, ...days.map((day) => day.active)), 0);

const toMetrics = (shards: Shards): Metrics => {
  const [delivered, bounced] = [sumField(shards, "delivered"), sumField(shards, "bounced")];
  return {
    engagement: toShare(sumField(shards, "engaged"), delivered),
    bounce: toShare(bounced, delivered + bounced),
    spam: toShare(sumField(shards, "complained"), delivered),
  };
};

/** The parts of a domain's score: all points at `best`, none at `worst`, linear between. */
export const SCORE_PARTS = [
  { metric: "engagement", points: 40, best: 0.3, worst: 0 },
  { metric: "bounce", points: 30, best: 0.005, worst: 0.1 },
  // At a complaint rate of 0.3 % large mail providers start to refuse a sender.
  { metric: "spam", points: 30, best: 0, worst: 0.003 },
] as const satisfies readonly {
  readonly metric: keyof Metrics;
  readonly points: number;
  readonly best: number;
  readonly worst: number;
}[];

/** Null when a part is unknown, for example when no mail was delivered. */
const toScore = (metrics: Metrics): number | null => {
  const parts = SCORE_PARTS.map(({ metric: of, points, best, worst }) => {
    const rate = metrics[of];
    const reached = rate === null ? null : (rate - worst) / (best - worst);
    return reached === null ? null : points * Math.min(1, Math.max(0, reached));
  });
  const scored = parts.filter((part) => part !== null);
  if (scored.length < parts.length) return null;
  return Math.round(scored.reduce((sum, part) => sum + part, 0));
};

/** The contract's quality score has these levels. */
const toReputationLevel = (score: number | null): ReputationLevel => {
  if (score === null) return "unknown";
  if (score >= 90) return "excellent";
  if (score >= 70) return "good";
  return score >= 50 ? "fair" : "poor";
};

const STABLE_POINTS = 5;

const toTrend = (score: number | null, earlier: number | null): Trend => {
  if (score === null || earlier === null) return "unknown";
  if (Math.abs(score - earlier) <= STABLE_POINTS) return "stable";
  return score > earlier ? "improving" : "declining";
};
