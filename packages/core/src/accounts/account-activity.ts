import { prefetch } from "../lib/prefetch.ts";
import { DAY_MS, toUtcDay } from "../lib/time.ts";
import { getBalance } from "../money/balance.ts";
import type { Halves } from "../money/credits.ts";
import { getOwnerId, KEY_MODES } from "../money/payer.ts";
import { listUsage, sumUsage } from "../money/usage.ts";
import type { Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { findLastRequest } from "../requests/list-requests.ts";
import { type Account, iterateAccounts } from "./account-items.ts";
import { listKeys, readLastUses } from "./api-keys.ts";

export type ActiveAccount = {
  readonly account: Account;
  readonly available: Halves;
  /** Charged in the last thirty days, today included, less what was refunded of it. */
  readonly used: Halves;
  /** ISO 8601. Undefined: it never made one. */
  readonly lastCallAt: string | undefined;
};

const DAYS = 30;
/** Each account is some seven reads. One after the other, a thousand accounts on AWS would take half a minute. */
const ACCOUNTS_AT_ONCE = 8;

/** Every account with what it has, what it used, and when it last called. */
export async function* listActiveAccounts({
  table,
  now,
  sleep,
}: Pick<World, "table" | "now" | "sleep">): AsyncGenerator<ActiveAccount> {
  const to = now();
  const from = new Date(to.getTime() - (DAYS - 1) * DAY_MS);
  const range = { from: toUtcDay(from), to: toUtcDay(to) };
  const accounts = await Array.fromAsync(iterateAccounts(table));
  yield* prefetch(accounts, ACCOUNTS_AT_ONCE, async (account) => {
    // SQLite is read without a pause: a server answers its callers in between.
    await sleep(0);
    const [{ available }, usage, lastCallAt] = await Promise.all([
      getBalance(table, account.account),
      listUsage(table, account.account, range),
      findLastCall(table, account.account),
    ]);
    const { debited, refunded } = sumUsage(usage.values());
    return { account, available, used: (debited - refunded) as Halves, lastCallAt };
  });
}

/**
 * A key knows its last use to the hour. The log of requests has what a key does not: calls with access tokens, and with
 * keys that were revoked since, for as long as it is kept.
 */
const findLastCall = async (table: Table, account: string): Promise<string | undefined> => {
  const owners = KEY_MODES.map((mode) => getOwnerId({ account, mode }));
  const [requests, uses] = await Promise.all([
    Promise.all(owners.map((owner) => findLastRequest(table, owner))),
    listKeys(table, account).then((keys) => readLastUses(table, keys)),
  ]);
  return [...requests, ...uses]
    .filter((at) => at !== undefined)
    .toSorted()
    .at(-1);
};
