import * as v from "valibot";
import type { Fields, Item, Key, Table } from "../ports/table.ts";
import { type Halves, isHalves } from "./credits.ts";
import { MOVES, type MovedAmounts } from "./moves.ts";

// Layout. The balance has its own partition, because every charge of an account writes it; the ledger has a partition
// per month, so a busy account never outgrows one.
//
//   pk                          sk                              what
//   BALANCE#<account>           BALANCE                         the totals; the invariants below hold after every write
//   LEDGER#<account>#<yyyy-mm>  <opened at>#<operation>~<step>  one immutable entry
//   USAGE#<account>             <yyyy-mm-dd>                    the sums of the entries of one day
//
//   available = granted - debited + refunded         held + spent + refunded = debited
//   nothing is ever below zero
//
// The key of an entry derives from its operation and step alone, so a step is written once at most.

const StoredHalves = v.custom<Halves>(isHalves, "Expected whole half-credits");

const Totals = {
  available: StoredHalves,
  held: StoredHalves,
  spent: StoredHalves,
  granted: StoredHalves,
  debited: StoredHalves,
  refunded: StoredHalves,
};

const Balance = v.object({
  ...Totals,
  /** The threshold below which `credits.low` is emitted. */
  lowLine: v.optional(StoredHalves, 0 as Halves),
});

export type Balance = Readonly<v.InferOutput<typeof Balance>>;

export const toBalanceKey = (account: string): Key => ({ pk: `BALANCE#${account}`, sk: "BALANCE" });
const readBalance = (item: Item): Balance => v.parse(Balance, item);

export const getBalance = async (table: Table, account: string): Promise<Balance> => {
  const item = await table.get(toBalanceKey(account));
  if (!item) throw new Error(`the account ${account} has no balance`);
  return readBalance(item);
};

/** The operation that an entry belongs to. */
export type OperationOrigin = {
  readonly account: string;
  readonly operation: string;
  readonly openedAt: string;
};

export type EntryStep =
  | "grant"
  | "debit"
  | "end"
  | `chunk-${number}`
  | `lost-${number}-${number}`
  | "unasked";

const LedgerEntry = v.object({
  account: v.string(),
  operation: v.string(),
  openedAt: v.string(),
  step: v.string(),
  at: v.string(),
  moved: v.record(v.picklist(Object.keys(MOVES) as (keyof typeof MOVES)[]), StoredHalves),
  reason: v.string(),
  /** The fencing token of the process that wrote it, if several may have tried. */
  token: v.optional(v.string()),
});

export type LedgerEntry = Omit<Readonly<v.InferOutput<typeof LedgerEntry>>, "step" | "moved"> & {
  readonly step: EntryStep;
  readonly moved: MovedAmounts;
};

/** The entry that ends an operation. Its key is the same for every outcome, so an operation cannot end twice. */
export const createEndEntry = (
  origin: OperationOrigin,
  end: Pick<LedgerEntry, "moved" | "reason"> & { readonly at: Date; readonly token: string },
): LedgerEntry => ({ ...origin, ...end, step: "end", at: end.at.toISOString() });

const toEntryKey = ({ account, operation, openedAt }: OperationOrigin, step: EntryStep): Key => ({
  pk: toLedgerPartition(account, openedAt.slice(0, 7)),
  sk: `${openedAt}#${operation}~${step}`,
});
export const toEntryItem = (entry: LedgerEntry): Item => ({
  ...toEntryKey(entry, entry.step),
  ...entry,
});
export const readEntry = (item: Item): LedgerEntry => v.parse(LedgerEntry, item) as LedgerEntry;
export const toLedgerPartition = (account: string, month: string): string =>
  `LEDGER#${account}#${month}`;

const Usage = v.object({
  sk: v.string(),
  granted: v.optional(StoredHalves, 0 as Halves),
  debited: v.optional(StoredHalves, 0 as Halves),
  refunded: v.optional(StoredHalves, 0 as Halves),
});

export const toUsagePartition = (account: string): string => `USAGE#${account}`;
export const toUsageKey = (account: string, at: string): Key => ({
  pk: toUsagePartition(account),
  sk: at.slice(0, 10),
});
export const readUsage = (item: Item) => v.parse(Usage, item);

export const ZERO_TOTALS = {
  available: 0 as Halves,
  held: 0 as Halves,
  spent: 0 as Halves,
  granted: 0 as Halves,
  debited: 0 as Halves,
  refunded: 0 as Halves,
} satisfies Omit<Balance, "lowLine"> & Fields;

export type Total = keyof typeof ZERO_TOTALS;
export const TOTALS = Object.keys(ZERO_TOTALS) as Total[];
