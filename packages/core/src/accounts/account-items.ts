import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import { StoredHalves } from "../money/balance.ts";
import type { KeyMode, Payer } from "../money/payer.ts";
import { PLAN_IDS } from "../money/plans.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import { AREAS } from "./scopes.ts";

// Layout.
//
//   pk                 sk        list_pk   list_sk    content
//   ACCOUNT#<account>  ACCOUNT   ACCOUNTS  <account>  name, plan, and the time since which it is disabled or closed

const Account = v.object({
  account: v.string(),
  name: v.string(),
  plan: v.picklist(PLAN_IDS),
  createdAt: v.string(),
  /** The retention of jobs in days. Absent when the plan's retention applies. */
  retentionDays: v.optional(v.number()),
  /** Set when no bounce was ever reported. Absent when one may have been, as in every account of 0.2.0. */
  bounceFree: v.optional(v.literal(true)),
  /** The most that the account may spend in a month (UTC). Absent without a limit, and in 0.2.0. */
  monthlyHalves: v.optional(StoredHalves),
  /** The area that all people but owners are limited to. Absent without a limit, and in 0.2.0. */
  area: v.optional(v.picklist(AREAS)),
  disabledAt: v.optional(v.string()),
  closedAt: v.optional(v.string()),
});

export type Account = Readonly<v.InferOutput<typeof Account>>;

export const toAccountKey = (account: string): Key => ({ pk: `ACCOUNT#${account}`, sk: "ACCOUNT" });

export const toAccountItem = (account: Account): Item => ({
  ...toAccountKey(account.account),
  list_pk: "ACCOUNTS",
  list_sk: account.account,
  ...account,
});

export const readAccount = (item: Item): Account => v.parse(Account, item);

/** The fields by which requests of the account are charged and their results kept. */
export const toPayer = (
  { account, plan, retentionDays, bounceFree, monthlyHalves }: Account,
  mode: KeyMode,
): Omit<Payer, "person"> => ({
  account,
  mode,
  plan,
  retentionDays,
  bounceFree,
  monthlyHalves,
});

/** The operator can enable a disabled account again. A closed account stays closed. */
export type AccountStatus = "active" | "disabled" | "closed";

export const getAccountStatus = ({
  disabledAt,
  closedAt,
}: Pick<Account, "disabledAt" | "closedAt">): AccountStatus => {
  if (closedAt !== undefined) return "closed";
  return disabledAt === undefined ? "active" : "disabled";
};

export async function* iterateAccounts(table: Table): AsyncGenerator<Account> {
  for await (const item of paginateQuery(table, { index: "list", pk: "ACCOUNTS" }))
    yield readAccount(item);
}
