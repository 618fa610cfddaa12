import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import { PLAN_IDS } from "../money/plans.ts";
import type { Item, Key, Table } from "../ports/table.ts";

// Layout.
//
//   pk                 sk        list_pk   list_sk    what
//   ACCOUNT#<account>  ACCOUNT   ACCOUNTS  <account>  its name, its plan, and since when it is disabled or closed

const Account = v.object({
  account: v.string(),
  name: v.string(),
  plan: v.picklist(PLAN_IDS),
  createdAt: v.string(),
  /** How long jobs are stored. Absent: as long as the plan allows. */
  retentionDays: v.optional(v.number()),
  /** No bounce was ever reported. Absent: one may have been, as in each account of 0.2.0. */
  bounceFree: v.optional(v.literal(true)),
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

/** disabled: the operator may enable it again. closed: for good. */
export type AccountStatus = "active" | "disabled" | "closed";

export const getAccountStatus = ({
  disabledAt,
  closedAt,
}: Pick<Account, "disabledAt" | "closedAt">): AccountStatus => {
  if (closedAt !== undefined) return "closed";
  return disabledAt === undefined ? "active" : "disabled";
};

/** Every account, for the audit. */
export async function* iterateAccounts(table: Table): AsyncGenerator<Account> {
  for await (const item of paginateQuery(table, { index: "list", pk: "ACCOUNTS" }))
    yield readAccount(item);
}
