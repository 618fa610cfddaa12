import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import type { Bounds, Item, Key, Table, Update } from "../ports/table.ts";
import { type Halves, isHalves } from "./credits.ts";

// Layout. The balance of an account is the sum of its shards. Every charge writes one shard, and an item that one transaction
// writes refuses every other transaction meanwhile, so a busy account needs several shards. Each shard preserves the invariants
// below, so their sum does. An operation keeps the shard that paid for it.
//
//   pk                 sk            list_pk           list_sk    content
//   BALANCE#<account>  BALANCE                                    shard 0: the only shard of most accounts
//   BALANCE#<account>  BALANCE#<nn>                               another shard, created when credits move to it
//   BALANCE#<account>  REPORTED      SHARDED_BALANCES  <account>  reported thresholds, with several shards (thresholds.ts)
//
//   available = granted - debited + refunded         held + spent + refunded = debited
//   no total is ever below zero

export const StoredHalves = v.custom<Halves>(isHalves, "Expected whole half-credits");

export const ZERO_TOTALS = {
  available: 0 as Halves,
  held: 0 as Halves,
  spent: 0 as Halves,
  granted: 0 as Halves,
  debited: 0 as Halves,
  refunded: 0 as Halves,
};

export type Total = keyof typeof ZERO_TOTALS;
export type Totals = Readonly<Record<Total, Halves>>;
export const TOTALS = Object.keys(ZERO_TOTALS) as Total[];

const StoredShard = v.object({
  sk: v.string(),
  available: StoredHalves,
  held: v.optional(StoredHalves, 0 as Halves),
  spent: v.optional(StoredHalves, 0 as Halves),
  granted: v.optional(StoredHalves, 0 as Halves),
  debited: v.optional(StoredHalves, 0 as Halves),
  refunded: v.optional(StoredHalves, 0 as Halves),
  /** Counts the changes of `available`: two equal reads of all shards show that no credits moved between them. */
  version: v.optional(v.number(), 0),
  /** Only in shard 0: the threshold below which the service emits `credits.low`. */
  lowThreshold: v.optional(StoredHalves, 0 as Halves),
});

const Reported = v.object({ low: v.boolean(), depleted: v.boolean(), version: v.number() });

/** States for each threshold whether the last report found the balance below it. */
export type Reported = Readonly<v.InferOutput<typeof Reported>>;
export type Shard = Totals & { readonly shard: number; readonly version: number };

export type Balance = Totals & {
  readonly lowThreshold: Halves;
};

/** A balance with its shards. `reported` is absent while the account has only shard 0. */
export type ShardedBalance = Balance & {
  readonly shards: readonly Shard[];
  readonly reported?: Reported;
};

export const toBalanceKey = (account: string, shard = 0): Key => ({
  pk: `BALANCE#${account}`,
  sk: shard === 0 ? "BALANCE" : `${SHARD_PREFIX}${toShardSuffix(shard)}`,
});
const SHARD_PREFIX = "BALANCE#";
export const toShardSuffix = (shard: number): string => String(shard).padStart(2, "0");

const REPORTED = "REPORTED";
const SHARDED_BALANCES = "SHARDED_BALANCES";
export const toReportedKey = (account: string): Key => ({ pk: `BALANCE#${account}`, sk: REPORTED });
export const toReportedItem = (account: string, reported: Reported): Item => ({
  ...toReportedKey(account),
  list_pk: SHARDED_BALANCES,
  list_sk: account,
  ...reported,
});
const Listed = v.object({ list_sk: v.string() });

export async function* iterateShardedAccounts(table: Table): AsyncGenerator<string> {
  for await (const item of paginateQuery(table, { index: "list", pk: SHARDED_BALANCES }))
    yield v.parse(Listed, item).list_sk;
}

/** The limit exceeds the number of shards of any plan. */
const ITEMS_MAX = 500;

/** `isOneItem`: the deployment makes no shards (`makesShards`), so one read replaces the query. */
const readItems = async (table: Table, account: string, isOneItem: boolean) => {
  if (!isOneItem) return (await table.query({ pk: `BALANCE#${account}`, limit: ITEMS_MAX })).items;
  const item = await table.get(toBalanceKey(account));
  return item ? [item] : [];
};

/** Reads all shards once. Other processes may move credits between two shards during the read. */
export const readBalance = async (
  table: Table,
  account: string,
  isOneItem = false,
): Promise<ShardedBalance> => {
  const items = await readItems(table, account, isOneItem);
  const reported = items.find(({ sk }) => sk === REPORTED);
  const stored = items
    .filter((item) => item !== reported)
    .map((item) => v.parse(StoredShard, item));
  const lowThreshold = stored.find(({ sk }) => sk === "BALANCE")?.lowThreshold;
  if (lowThreshold === undefined) throw new Error(`the account ${account} has no balance`);
  return {
    ...sumShards(stored),
    lowThreshold,
    shards: stored.map(({ sk, ...shard }) => ({ ...shard, shard: toShardNumber(sk) })),
    ...(reported && { reported: v.parse(Reported, reported) }),
  };
};

const toShardNumber = (sk: string): number => Number(sk.slice(SHARD_PREFIX.length));

const sumShards = (shards: readonly Totals[]): Totals => {
  const sums = { ...ZERO_TOTALS };
  for (const shard of shards)
    for (const total of TOTALS) sums[total] = (sums[total] + shard[total]) as Halves;
  return sums;
};

const READS_MAX = 6;

/**
 * Reads the balance at one moment: two successive reads found every shard unchanged. `isStable` is false when other processes
 * moved credits during every read.
 */
export const readStableBalance = async (
  table: Table,
  account: string,
): Promise<{ readonly balance: ShardedBalance; readonly isStable: boolean }> => {
  let before = await readBalance(table, account);
  // The read of one item is atomic.
  if (before.shards.length === 1) return { balance: before, isStable: true };
  for (let read = 1; read < READS_MAX; read++) {
    const balance = await readBalance(table, account);
    if (toVersions(balance) === toVersions(before)) return { balance, isStable: true };
    before = balance;
  }
  return { balance: before, isStable: false };
};

const toVersions = ({ shards, reported }: ShardedBalance): string =>
  [...shards, { shard: REPORTED, version: reported?.version }]
    .map(({ shard, version }) => `${shard}:${version}`)
    .join();

export const getBalance = async (table: Table, account: string): Promise<ShardedBalance> =>
  (await readStableBalance(table, account)).balance;

/** Reads the balance of an account with one shard from the items after a transaction. */
export const findLeft = (
  account: string,
  { items = [] }: { readonly items?: readonly (Item | undefined)[] },
): Halves | undefined => {
  const { pk, sk } = toBalanceKey(account);
  const item = items.find((one) => one?.pk === pk && one.sk === sk);
  return item && v.parse(StoredShard, item).available;
};

export type TotalChanges = Readonly<Record<string, number>>;

/**
 * Builds the write that changes one shard of a balance. The table refuses the write when a total would fall below zero, or when the
 * available credits would leave the bounds of `available`.
 */
export const buildShardUpdate = (
  account: string,
  shard: number,
  changes: TotalChanges,
  available?: Bounds[string],
): Update => ({
  update: toBalanceKey(account, shard),
  add: { ...changes, ...(changes["available"] && { version: 1 }) },
  bounds: { ...toLowerBounds(changes), ...(available && { available }) },
});

const toLowerBounds = (changes: TotalChanges): Bounds =>
  Object.fromEntries(
    Object.entries(changes)
      .filter(([, by]) => by < 0)
      .map(([total]) => [total, { atLeast: 0 }]),
  );
