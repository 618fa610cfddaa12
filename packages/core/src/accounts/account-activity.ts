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
  /** The charges of the last thirty days, today included, less their refunds. */
  readonly used: Halves;
  /** ISO 8601. Undefined when the account never sent a request. */
  readonly lastCallAt: string | undefined;
};

const DAYS = 30;
/** An account costs about seven reads. One after the other, a thousand accounts would take half a minute on AWS. */
const ACCOUNTS_AT_ONCE = 8;

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
    // SQLite answers without a pause; this lets a server answer its callers in between.
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
 * A key stores its last use to the hour. The request log also contains calls with access tokens and with revoked keys, for as
 * long as the log is retained.
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
