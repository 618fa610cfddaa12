import type { Settings } from "../ports/settings.ts";
import type { Update } from "../ports/table.ts";
import { buildShardUpdate, type Shard, type ShardedBalance } from "./balance.ts";
import { type Halves, toCredits } from "./credits.ts";
import { PLANS, type PlanId } from "./plans.ts";

// Decides which shard of a balance pays, and from which other shards it draws missing credits.

export const countShards = (
  plan: PlanId,
  available: Halves,
  { creditsPerShard }: Pick<Settings, "creditsPerShard">,
): number =>
  Math.max(
    1,
    Math.min(PLANS[plan].balanceShards, Math.floor(toCredits(available) / creditsPerShard)),
  );

/** One machine makes no shards: SQLite's transactions never conflict. */
export const makesShards = ({ creditsPerShard }: Pick<Settings, "creditsPerShard">): boolean =>
  Number.isFinite(creditsPerShard);

export type Draw = { readonly from: number; readonly amount: Halves };

/** `isEnough`: the shard can pay after these draws. Otherwise the draws only bring it closer. */
export type Funding = {
  readonly shard: number;
  readonly draws: readonly Draw[];
  readonly isEnough: boolean;
};

/** Each source is one more item that no other transaction may write meanwhile. */
const SOURCES_MAX = 3;

/**
 * Chooses a shard at random, so that two charges seldom meet. A shard that lacks credits draws its share from the richest
 * shards, so that `count` shards can draw at the same time. When no shard can pay in this way, the richest shard pays and draws
 * as often as necessary.
 */
export const planFunding = (
  { shards }: Pick<ShardedBalance, "shards">,
  amount: Halves,
  count: number,
  random: () => number,
): Funding => {
  const chosen = count === 1 ? 0 : Math.floor(random() * count);
  const funding = fund(shards, chosen, amount, count);
  const richest = toRichestFirst(shards, count).at(0)?.shard ?? 0;
  return funding.isEnough ? funding : fund(shards, richest, amount, count);
};

const fund = (shards: readonly Shard[], shard: number, amount: Halves, count: number): Funding => {
  let missing = amount - (shards.find((one) => one.shard === shard)?.available ?? 0);
  const draws: Draw[] = [];
  for (const source of toRichestFirst(shards, count)) {
    if (missing <= 0 || draws.length === SOURCES_MAX) break;
    if (source.shard === shard || source.available === 0) continue;
    const share = isRetired(source, count)
      ? source.available
      : Math.min(source.available, Math.max(missing, Math.floor(source.available / count)));
    draws.push({ from: source.shard, amount: share as Halves });
    missing -= share;
  }
  return { shard, draws, isEnough: missing <= 0 };
};

/** The balance became too small for this shard: other shards draw its credits first and completely. */
const isRetired = ({ shard }: Shard, count: number): boolean => shard >= count;

const toRichestFirst = (shards: readonly Shard[], count: number): readonly Shard[] =>
  shards.toSorted(
    (a, b) =>
      Number(isRetired(b, count) && b.available > 0) -
        Number(isRetired(a, count) && a.available > 0) || b.available - a.available,
  );

const SPREAD_MAX = 98;

/**
 * Builds the writes that give every poor shard its share of the richest shard's credits; none if few shards are poor. After a
 * grant or the opening, one shard contains all credits, and every charge would draw from that shard.
 */
export const planSpread = (
  account: string,
  { shards, available }: Pick<ShardedBalance, "shards" | "available">,
  count: number,
): readonly Update[] => {
  const share = Math.floor(available / count);
  const richest = toRichestFirst(shards, 0).at(0);
  if (!richest) return [];
  const has = new Map(shards.map((one) => [one.shard, one.available]));
  const poor = Array.from({ length: count }, (_, shard) => shard)
    .filter((shard) => shard !== richest.shard && (has.get(shard) ?? 0) < share / 2)
    .slice(0, Math.min(SPREAD_MAX, Math.floor(richest.available / share) - 1));
  if (poor.length < 2 || poor.length < count / POOR_SHARE) return [];
  const draw: Draw = { from: richest.shard, amount: share as Halves };
  return [
    ...buildDraws(account, [{ ...draw, amount: (share * poor.length) as Halves }]),
    ...poor.map((shard) => buildPayingUpdate(account, { shard, draws: [draw] }, {})),
  ];
};

const POOR_SHARE = 4;

/** The writes of the shards that give credits. A draw changes no total of the account. */
export const buildDraws = (account: string, draws: readonly Draw[]): readonly Update[] =>
  draws.map(({ from, amount }) =>
    buildShardUpdate(account, from, { available: -amount, granted: -amount }),
  );

const sumDraws = (draws: readonly Draw[]): number =>
  draws.reduce((sum, { amount }) => sum + amount, 0);

/** Builds the write of the paying shard, which it creates if missing. */
export const buildPayingUpdate = (
  account: string,
  { shard, draws }: Pick<Funding, "shard" | "draws">,
  changes: Readonly<Record<string, number>>,
  bounds?: { readonly atLeast?: number; readonly atMost?: number },
): Update => {
  const drawn = sumDraws(draws);
  const { available = 0, granted = 0, ...others } = changes;
  const update = buildShardUpdate(
    account,
    shard,
    { ...others, available: available + drawn, granted: granted + drawn },
    bounds,
  );
  return shard === 0 ? update : { ...update, orCreate: true };
};
