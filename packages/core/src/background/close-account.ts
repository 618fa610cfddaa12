import { type Account, getAccountStatus } from "../accounts/account-items.ts";
import { getExistingAccount, updateAccount } from "../accounts/accounts.ts";
import { listKeys, revokeKey } from "../accounts/api-keys.ts";
import { listMonitors } from "../deliverability/monitor-items.ts";
import { removeMonitor } from "../deliverability/monitors.ts";
import { type CancelledJobs, cancelOpenJobs } from "../lists/cancel-inactive.ts";
import { getOwnerId, KEY_MODES } from "../money/payer.ts";
import { removePeople } from "../people/people.ts";
import type { World } from "../ports/world.ts";
import { listWebhooks } from "../webhooks/items.ts";
import { deleteWebhook } from "../webhooks/webhooks.ts";

// A stop has two steps: first the account accepts nothing new, then its open work ends. After a crash the operator runs the
// command again, and it continues.

/** Until the operator enables the account again, its keys and tokens are refused. Its open jobs are cancelled and refunded. */
export const disableAccount = async (world: World, id: string): Promise<CancelledJobs> => {
  const found = await getExistingAccount(world.table, id);
  const disabledAt = found.disabledAt ?? world.now().toISOString();
  await updateAccount(world.table, id, { disabledAt });
  return cancelOpenJobs(world, id);
};

export const enableAccount = async (world: World, id: string): Promise<Account> =>
  updateAccount(world.table, id, { disabledAt: undefined });

/** Closes an account for good: removes keys, members, monitors and webhooks and cancels open jobs. The ledger and the results stay. */
export const closeAccount = async (world: World, id: string) => {
  const found = await getExistingAccount(world.table, id);
  if (getAccountStatus(found) !== "closed")
    await updateAccount(world.table, id, { closedAt: world.now().toISOString() });
  const keys = await listKeys(world.table, id);
  for (const key of keys) await revokeKey(world.table, key);
  const members = await removePeople(world, id);
  let monitors = 0;
  let webhooks = 0;
  for (const mode of KEY_MODES) {
    const owner = getOwnerId({ account: id, mode });
    for (const monitor of await listMonitors(world.table, owner))
      if (await removeMonitor(world, monitor)) monitors++;
    for (const webhook of await listWebhooks(world.table, owner))
      if (await deleteWebhook(world, webhook)) webhooks++;
  }
  return { keys: keys.length, members, monitors, webhooks, ...(await cancelOpenJobs(world, id)) };
};
