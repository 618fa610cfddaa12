import { createHash } from "node:crypto";
import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import { addMs, DAY_MS } from "../lib/time.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import { StoredHalves, TOTALS, type Total, type Totals, ZERO_TOTALS } from "./balance.ts";
import type { Halves } from "./credits.ts";
import {
  type LedgerEntry,
  readEntry,
  toLedgerPartition,
  toUsageChanges,
  type UsageField,
} from "./items.ts";
import { MOVES, type MoveKind } from "./moves.ts";
import { addSpending, getSpent } from "./spending.ts";
import { NO_USAGE, type UsageSums } from "./usage.ts";

// Layout. The sums of a closed month's entries, so that later audits need not read the entries.
//
//   pk                 sk         content
//   CLOSING#<account>  <yyyy-mm>  the sums of the month, the number of its entries, and the digest of all of them

const Closing = v.object({
  sk: v.string(),
  entries: v.number(),
  digest: v.string(),
  sums: v.object({
    available: StoredHalves,
    held: StoredHalves,
    spent: StoredHalves,
    granted: StoredHalves,
    debited: StoredHalves,
    refunded: StoredHalves,
  }),
  /** The balance agreed with the closing. An unproved closing only saves an interrupted audit from reading again. */
  isProved: v.boolean(),
});

export type Closing = Readonly<Omit<v.InferOutput<typeof Closing>, "sk">> & {
  readonly month: string;
};

/**
 * The sums of a month's entries. `held`: credits neither settled nor released, by operation. `usage`: the sums of the month's
 * daily usage. `spending`: the sums of the month's counters.
 */
export type MonthSum = Pick<Closing, "month" | "entries" | "digest" | "sums"> & {
  readonly held: ReadonlyMap<string, number>;
  readonly usage: UsageSums;
  readonly spending: ReadonlyMap<string, number>;
};

const toClosingPartition = (account: string): string => `CLOSING#${account}`;
const toClosingKey = (account: string, month: string): Key => ({
  pk: toClosingPartition(account),
  sk: month,
});

/**
 * A month is over 35 days after its end: all of its jobs and refunds have ended by then, and only a clock that is wrong by
 * weeks writes to it. Such a clock may also close a future month; that closing counts once the month is over.
 */
const OVER_AFTER_MS = 35 * DAY_MS;

const isOver = (month: string, now: Date): boolean => {
  const end = new Date(`${month}-01T00:00:00.000Z`);
  end.setUTCMonth(end.getUTCMonth() + 1);
  return addMs(end, OVER_AFTER_MS) <= now;
};

export type Closings = ReadonlyMap<string, Closing>;

export const readClosings = async (table: Table, account: string, now: Date): Promise<Closings> => {
  const closings = new Map<string, Closing>();
  for await (const item of paginateQuery(table, { pk: toClosingPartition(account) })) {
    const { sk: month, ...closing } = v.parse(Closing, item);
    if (isOver(month, now)) closings.set(month, { month, ...closing });
  }
  return closings;
};

/** Held credits keep a month open. A month without entries needs no closing. */
export const mayClose = ({ month, entries, held }: MonthSum, now: Date): boolean =>
  entries > 0 && held.size === 0 && isOver(month, now);

export const isSame = (sum: MonthSum, closing: Closing): boolean =>
  sum.entries === closing.entries &&
  sum.digest === closing.digest &&
  TOTALS.every((total) => sum.sums[total] === closing.sums[total]);

/** Ignores a failed write: the next audit writes the closing. */
export const writeClosing = async (
  table: Table,
  account: string,
  { month, entries, digest, sums }: Omit<MonthSum, "held" | "usage" | "spending">,
  isProved: boolean,
): Promise<void> => {
  const item: Item = { ...toClosingKey(account, month), entries, digest, sums, isProved };
  await table.write({ put: item }).catch(() => undefined);
};

/** DynamoDB ends a page at 1 MB, which is about 4,000 entries. */
const PAGE_SIZE = 4_000;
/** One digest call per entry would take an eighth of the audit's time. */
const DIGESTED_AT_ONCE = 65_536;

export const sumMonth = async (table: Table, account: string, month: string): Promise<MonthSum> => {
  const sums: Record<Total, number> = { ...ZERO_TOTALS };
  const held = new Map<string, number>();
  const usage: Record<UsageField, number> = { ...NO_USAGE };
  const spending = new Map<string, number>();
  const hash = createHash("sha256");
  let entries = 0;
  let digested = "";
  const query = { pk: toLedgerPartition(account, month), pageSize: PAGE_SIZE };
  for await (const item of paginateQuery(table, query)) {
    const entry = readEntry(item);
    addEntry(entry, sums, held);
    const changes = toUsageChanges(entry);
    addUsage(changes, usage);
    addSpending(spending, entry, getSpent(changes));
    digested += toDigested(item.sk, entry);
    if (digested.length > DIGESTED_AT_ONCE) {
      hash.update(digested);
      digested = "";
    }
    entries++;
  }
  hash.update(digested);
  return {
    month,
    entries,
    digest: hash.digest("base64url"),
    sums: sums as Totals,
    held,
    usage: usage as UsageSums,
    spending,
  };
};

/** Serializes every field of the entry, in an order that does not depend on the adapter. */
const toDigested = (
  sk: string,
  { at, moved, reason, token, paidFor, countedIn }: LedgerEntry,
): string => {
  const amounts = Object.entries(moved).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const fields = [sk, at, amounts, reason, paidFor ?? null, token ?? null];
  // Entries of 0.2.0 have no counters, and keep their digest.
  return `${JSON.stringify(countedIn ? [...fields, countedIn] : fields)}\n`;
};

const addUsage = (
  changes: ReturnType<typeof toUsageChanges>,
  usage: Record<UsageField, number>,
): void => {
  for (const [field, by] of Object.entries(changes) as [UsageField, number][]) usage[field] += by;
};

const addEntry = (
  { operation, moved }: LedgerEntry,
  sums: Record<Total, number>,
  held: Map<string, number>,
): void => {
  const heldBefore = sums.held;
  for (const [kind, amount] of Object.entries(moved) as [MoveKind, Halves][])
    for (const [total, sign] of Object.entries(MOVES[kind])) sums[total as Total] += sign * amount;
  const change = sums.held - heldBefore;
  if (change === 0) return;
  const now = (held.get(operation) ?? 0) + change;
  if (now === 0) held.delete(operation);
  else held.set(operation, now);
};

export const sumMonths = (months: Iterable<Pick<MonthSum, "sums">>): Totals => {
  const sums = { ...ZERO_TOTALS };
  for (const month of months)
    for (const total of TOTALS) sums[total] = (sums[total] + month.sums[total]) as Halves;
  return sums;
};
