import { Failure } from "../lib/failure.ts";
import { type Balance, getBalance, readStableBalance } from "../money/balance.ts";
import { type Halves, toCredits } from "../money/credits.ts";
import { debit } from "../money/debit.ts";
import { grant, openBalance } from "../money/ledger.ts";
import type { Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { type Account, readAccount, toAccountItem, toAccountKey } from "./account-items.ts";
import { createKeyCount } from "./api-key-items.ts";
import { mintKey } from "./api-keys.ts";
import type { PlanId } from "./plans.ts";

export type OpenedAccount = {
  readonly account: string;
  readonly liveKey: string;
  readonly testKey: string;
};

/** Creates an account with its opening credits and one unrestricted key of each mode, or nothing at all. */
export const openAccount = async (
  world: World,
  { name, plan, opening }: { name: string; plan: PlanId; opening: Halves },
): Promise<OpenedAccount> => {
  const account = world.newId("acc");
  const at = world.now().toISOString();
  const live = mintKey(world, { account, name: "First live key", mode: "live", scopes: null });
  const test = mintKey(world, { account, name: "First test key", mode: "test", scopes: null });

  const { outcome } = await world.table.transact([
    { create: toAccountItem({ account, name, plan, createdAt: at }) },
    ...openBalance({ id: world.newId("txn"), account, at, amount: opening, reason: "opening" }),
    createKeyCount(live.key),
    createKeyCount(test.key),
    ...live.writes,
    ...test.writes,
  ]);
  if (outcome === "committed") return { account, liveKey: live.secret, testKey: test.secret };
  throw new Failure("UNAVAILABLE", "nothing_charged", "Unknown whether the account was created.");
};

export const findAccount = async (table: Table, account: string): Promise<Account | undefined> => {
  const item = await table.get(toAccountKey(account));
  return item && readAccount(item);
};

export const getAccount = async (table: Table, account: string): Promise<Account> => {
  const found = await findAccount(table, account);
  if (!found) throw new Error(`there is no account ${account}`);
  return found;
};

export const renameAccount = async (table: Table, account: string, name: string): Promise<void> => {
  const { outcome } = await table.write({ update: toAccountKey(account), set: { name } });
  if (outcome === "refused")
    throw new Failure("NOT_FOUND", "nothing_charged", `No account ${account}.`);
  if (outcome === "ambiguous")
    throw new Failure("UNAVAILABLE", "nothing_charged", "Unknown whether the account was renamed.");
};

/** The balance after the grant. */
export const grantCredits = async (
  world: World,
  account: string,
  amount: Halves,
): Promise<Balance> => {
  const request = { id: world.newId("txn"), account, amount, reason: "granted by an operator" };
  const result = await world.table.transact(grant({ ...request, at: world.now().toISOString() }));
  if (result.outcome === "refused")
    throw new Failure("NOT_FOUND", "nothing_charged", `No account ${account}.`);
  if (result.outcome === "ambiguous")
    throw new Failure("UNAVAILABLE", "unknown", "Unknown whether the credits were granted.");
  return getBalance(world.table, account);
};

/** Concurrent charges change the balance: the clawback is attempted this often. */
const CLAWBACK_ATTEMPTS_MAX = 5;

/** Takes back unspent credits, all of them or none. The balance after it. */
export const clawBackCredits = async (
  world: World,
  account: string,
  amount: Halves,
): Promise<Balance> => {
  const found = await findAccount(world.table, account);
  if (!found) throw new Failure("NOT_FOUND", "nothing_charged", `No account ${account}.`);
  const { plan } = found;
  const openedAt = world.now().toISOString();
  const origin = { account, operation: world.newId("txn"), openedAt };
  for (let attempt = 0; attempt < CLAWBACK_ATTEMPTS_MAX; attempt++) {
    const { balance, isStable } = await readStableBalance(world.table, account);
    const { available } = balance;
    if (isStable && available < amount) throw createInsufficientCreditsFailure(amount, available);
    const reason = "taken back by an operator";
    const request = { ...origin, plan, kind: "clawback", amount, reason } as const;
    const [entry, ...also] = (await debit(world, request)).writes;
    const { outcome } = await commit(world, { proof: entry, also });
    if (outcome === "committed") return getBalance(world.table, account);
    if (outcome === "ambiguous")
      throw new Failure("UNAVAILABLE", "unknown", "Unknown whether the credits were taken back.");
  }
  const what = "The balance changed too often during the request; send it again.";
  throw new Failure("UNAVAILABLE", "nothing_charged", what);
};

const createInsufficientCreditsFailure = (amount: Halves, available: Halves): Failure => {
  const what = `The account has ${toCredits(available)} unspent credits; ${toCredits(amount)} cannot be taken back.`;
  const details = { needed: toCredits(amount), available: toCredits(available) };
  return new Failure("INSUFFICIENT_CREDITS", "nothing_charged", what, { details });
};
