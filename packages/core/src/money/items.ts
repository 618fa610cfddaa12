import * as v from "valibot";
import type { Fields, Item, Key } from "../table.ts";
import { type Halves, isHalves } from "./credits.ts";

// Layout. The balance stands alone, because every charge of an account writes it; the ledger has a partition
// per month, so a busy account never outgrows one.
//
//   pk                          sk                   what
//   BALANCE#<account>           BALANCE              the totals; the laws below hold after every write
//   LEDGER#<account>#<yyyy-mm>  <at>#<id>            one immutable entry
//   USAGE#<account>             <yyyy-mm-dd>         what the entries of one day add up to
//
//   available = granted - debited + refunded         held + spent + refunded = debited
//   nothing is ever below zero

const StoredHalves = v.custom<Halves>(isHalves, "Expected whole half-credits");

const Balance = v.object({
  available: StoredHalves,
  held: StoredHalves,
  spent: StoredHalves,
  granted: StoredHalves,
  debited: StoredHalves,
  refunded: StoredHalves,
});

export type Balance = Readonly<v.InferOutput<typeof Balance>>;

export const balanceKey = (account: string): Key => ({ pk: `BALANCE#${account}`, sk: "BALANCE" });
export const readBalance = (item: Item): Balance => v.parse(Balance, item);

const Entry = v.object({
  id: v.string(),
  account: v.string(),
  at: v.string(),
  kind: v.picklist(["grant"]),
  amount: StoredHalves,
  reason: v.string(),
});

export type Entry = Readonly<v.InferOutput<typeof Entry>>;

export const entryItem = (entry: Entry): Item => ({
  pk: ledgerOf(entry.account, entry.at.slice(0, 7)),
  sk: `${entry.at}#${entry.id}`,
  ...entry,
});
export const readEntry = (item: Item): Entry => v.parse(Entry, item);
export const ledgerOf = (account: string, month: string): string => `LEDGER#${account}#${month}`;

const Usage = v.object({
  sk: v.string(),
  granted: v.optional(StoredHalves, 0 as Halves),
  debited: v.optional(StoredHalves, 0 as Halves),
  refunded: v.optional(StoredHalves, 0 as Halves),
});

export const usageOf = (account: string): string => `USAGE#${account}`;
export const usageKey = (account: string, at: string): Key => ({
  pk: usageOf(account),
  sk: at.slice(0, 10),
});
export const readUsage = (item: Item) => v.parse(Usage, item);

export const NOTHING: Balance & Fields = {
  available: 0 as Halves,
  held: 0 as Halves,
  spent: 0 as Halves,
  granted: 0 as Halves,
  debited: 0 as Halves,
  refunded: 0 as Halves,
};
