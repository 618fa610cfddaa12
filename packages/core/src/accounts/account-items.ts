import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import { PLAN_IDS } from "./plans.ts";

// Layout.
//
//   pk                 sk        list_pk   list_sk    what
//   ACCOUNT#<account>  ACCOUNT   ACCOUNTS  <account>  its name and its plan

const Account = v.object({
  account: v.string(),
  name: v.string(),
  plan: v.picklist(PLAN_IDS),
  createdAt: v.string(),
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

/** Every account, for the audit. */
export async function* iterateAccounts(table: Table): AsyncGenerator<Account> {
  for await (const item of paginateQuery(table, { index: "list", pk: "ACCOUNTS" }))
    yield readAccount(item);
}
