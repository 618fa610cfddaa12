import { firstKeyCount } from "../access/items.ts";
import { mintKey } from "../access/keys.ts";
import { Failure } from "../failure.ts";
import type { Halves } from "../money/credits.ts";
import { type Balance, balanceOf } from "../money/items.ts";
import { grant, openBalance } from "../money/ledger.ts";
import type { Table } from "../table.ts";
import type { World } from "../world.ts";
import { type Account, accountItem, accountKey, readAccount } from "./items.ts";
import type { PlanId } from "./plans.ts";

export type Opened = {
  readonly account: string;
  readonly liveKey: string;
  readonly testKey: string;
};

/** A new account with its opening credits and one unrestricted key of each kind, or nothing at all. */
export const openAccount = async (
  world: World,
  { name, plan, opening }: { name: string; plan: PlanId; opening: Halves },
): Promise<Opened> => {
  const account = world.newId("acc");
  const at = world.now().toISOString();
  const live = mintKey(world, { account, name: "First live key", mode: "live", scopes: null });
  const test = mintKey(world, { account, name: "First test key", mode: "test", scopes: null });

  const { outcome } = await world.table.transact([
    { create: accountItem({ account, name, plan, createdAt: at }) },
    ...openBalance({ id: world.newId("txn"), account, at, amount: opening, reason: "opening" }),
    firstKeyCount(live.key),
    firstKeyCount(test.key),
    ...live.writes,
    ...test.writes,
  ]);
  if (outcome === "committed") return { account, liveKey: live.secret, testKey: test.secret };
  throw new Failure(
    "UNAVAILABLE",
    "nothing_charged",
    "It is not known whether the account exists.",
  );
};

export const findAccount = async (table: Table, account: string): Promise<Account | undefined> => {
  const item = await table.get(accountKey(account));
  return item && readAccount(item);
};

export const accountOf = async (table: Table, account: string): Promise<Account> => {
  const found = await findAccount(table, account);
  if (!found) throw new Error(`there is no account ${account}`);
  return found;
};

/** The balance after the grant. */
export const grantCredits = async (
  world: World,
  account: string,
  amount: Halves,
): Promise<Balance> => {
  const movement = { id: world.newId("txn"), account, amount, reason: "granted by an operator" };
  const result = await world.table.transact(grant({ ...movement, at: world.now().toISOString() }));
  if (result.outcome === "refused")
    throw new Failure("NOT_FOUND", "nothing_charged", `There is no account ${account}.`);
  if (result.outcome === "ambiguous")
    throw new Failure(
      "UNAVAILABLE",
      "unknown",
      "It is not known whether the credits were granted.",
    );
  return balanceOf(world.table, account);
};
