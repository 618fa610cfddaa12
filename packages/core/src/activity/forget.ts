import type { Address } from "@mailproof/mail/address";
import { iterateAccounts } from "../accounts/account-items.ts";
import { getShard, hashAddress, hashDomain } from "../accounts/hashes.ts";
import { eraseVerdict } from "../calibration/account-history.ts";
import { toUtcDay } from "../lib/time.ts";
import type { World } from "../ports/world.ts";
import { countDaysBetween } from "./days.ts";
import { addToDay, DAYS_RETAINED, findRecord, removeRecord, SHARDS } from "./items.ts";
import { SHARED_POOL } from "./shared-pool.ts";

const ATTEMPTS_MAX = 12;

/**
 * Removes the records, verdicts and bounces of an address in every account and in the shared pool, and subtracts the address
 * from its domain's count. The domain's sums stay, because they identify no person. Later events start a new record. Returns
 * the number of removed records.
 */
export const forgetActivity = async (world: World, address: Address): Promise<number> => {
  let count = await forgetOwned(world, SHARED_POOL, address);
  for await (const { account } of iterateAccounts(world.table))
    count += await forgetOwned(world, account, address);
  return count;
};

export const forgetOwned = async (
  world: World,
  owner: string,
  address: Address,
): Promise<number> => {
  const { canonical, domain } = address;
  await eraseVerdict(world, owner, address);
  const hash = hashAddress(world, owner, canonical);
  let count = 0;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const record = await findRecord(world.table, hash);
    if (!record) return count;
    count = 1;
    const { outcome } = await world.table.transact([
      removeRecord(hash, record),
      ...(countDaysBetween(record.lastDay, toUtcDay(world.now())) <= DAYS_RETAINED
        ? [
            addToDay(
              hashDomain(world, owner, domain),
              getShard(world, canonical, SHARDS),
              record.lastDay,
              { people: -1 },
              [],
            ),
          ]
        : []),
    ]);
    if (outcome === "committed") return count;
    // "refused": another process counted an event meanwhile. "ambiguous": the next read shows the outcome.
  }
  throw new Error("new events arrive faster than the records can be removed; try again");
};
