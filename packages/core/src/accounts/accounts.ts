import { firstKeyCount } from "../access/items.ts";
import { mintKey } from "../access/keys.ts";
import { commit } from "../commit.ts";
import { Failure } from "../failure.ts";
import { type Halves, toCredits } from "../money/credits.ts";
import { debit } from "../money/debit.ts";
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

/** The balance moves while others pay: as often the clawback is tried anew. */
const CLAWBACK_TRIES = 5;

/** Takes back unspent credits, all of them or none. The balance after it. */
export const clawBackCredits = async (
  world: World,
  account: string,
  amount: Halves,
): Promise<Balance> => {
  if (!(await findAccount(world.table, account)))
    throw new Failure("NOT_FOUND", "nothing_charged", `There is no account ${account}.`);
  const openedAt = world.now().toISOString();
  const origin = { account, operation: world.newId("txn"), openedAt };
  for (let tries = 0; tries < CLAWBACK_TRIES; tries++) {
    const { available } = await balanceOf(world.table, account);
    if (available < amount) throw notEnough(amount, available);
    const reason = "taken back by an operator";
    const writes = await debit(world, { ...origin, as: "clawback", amount, reason });
    const { outcome } = await commit(world, writes);
    if (outcome === "committed") return balanceOf(world.table, account);
    if (outcome === "ambiguous")
      throw new Failure(
        "UNAVAILABLE",
        "unknown",
        "It is not known whether the credits were taken back.",
      );
  }
  const what = "The balance of the account changed too often; send this again.";
  throw new Failure("UNAVAILABLE", "nothing_charged", what);
};

const notEnough = (amount: Halves, available: Halves): Failure => {
  const what = `The account has ${toCredits(available)} unspent credits; ${toCredits(amount)} cannot be taken back.`;
  const details = { needed: toCredits(amount), available: toCredits(available) };
  return new Failure("INSUFFICIENT_CREDITS", "nothing_charged", what, { details });
};
