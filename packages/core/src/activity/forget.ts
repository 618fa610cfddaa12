import type { Address } from "@mailproof/mail/address";
import { iterateAccounts } from "../accounts/account-items.ts";
import { getShard, listAddressHashes, listDomainHashes } from "../accounts/hashes.ts";
import { eraseVerdict } from "../calibration/account-history.ts";
import { toUtcDay } from "../lib/time.ts";
import type { World } from "../ports/world.ts";
import { countDaysBetween } from "./days.ts";
import { addToDay, DAYS_RETAINED, findRecord, removeRecord, SHARDS, SHARED_POOL } from "./items.ts";

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
  const [day] = listDomainHashes(world, owner, domain);
  let count = 0;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const found = await findRecords(world, owner, canonical);
    // A record by the key before was continued by the first one, which alone counts for the domain.
    const [first] = found;
    if (!first) return count;
    count = 1;
    const { lastDay } = first.record;
    const { outcome } = await world.table.transact([
      ...found.map(({ hash, record }) => removeRecord(hash, record)),
      ...(countDaysBetween(lastDay, toUtcDay(world.now())) <= DAYS_RETAINED
        ? [addToDay(day, getShard(world, canonical, SHARDS), lastDay, { people: -1 }, [])]
        : []),
    ]);
    if (outcome === "committed") return count;
    // "refused": another process counted an event meanwhile. "ambiguous": the next read shows the outcome.
  }
  throw new Error("new events arrive faster than the records can be removed; try again");
};

const findRecords = async (world: World, owner: string, canonical: string) => {
  const hashes = listAddressHashes(world, owner, canonical);
  const records = await Promise.all(hashes.map((hash) => findRecord(world.table, hash)));
  return hashes.flatMap((hash, at) => {
    const record = records[at];
    return record ? [{ hash, record }] : [];
  });
};
