import { iterateAccounts } from "../accounts/account-items.ts";
import { toUtcDay } from "../lib/time.ts";
import type { Address } from "../mail/address.ts";
import type { World } from "../ports/world.ts";
import { countDaysBetween } from "./days.ts";
import { getShard, hashAddress, hashDomain } from "./hashes.ts";
import { addToDay, DAYS_RETAINED, findRecord, removeRecord } from "./items.ts";
import { SHARED_POOL } from "./shared-pool.ts";

const ATTEMPTS_MAX = 12;

/**
 * Removes what any account or the pool knows of an address, and takes it out of the number of its domain's addresses.
 * What those did together stays as sums, in which nobody can be found. Events that come later begin a new record.
 * How many records there were.
 */
export const forgetActivity = async (world: World, address: Address): Promise<number> => {
  let count = 0;
  if (await forgetOwned(world, SHARED_POOL, address)) count++;
  for await (const { account } of iterateAccounts(world.table))
    if (await forgetOwned(world, account, address)) count++;
  return count;
};

/** Whether there was anything. */
const forgetOwned = async (
  world: World,
  owner: string,
  { canonical, domain }: Address,
): Promise<boolean> => {
  const hash = hashAddress(world, owner, canonical);
  let wasThere = false;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const record = await findRecord(world.table, hash);
    if (!record) return wasThere;
    wasThere = true;
    const { outcome } = await world.table.transact([
      removeRecord(hash, record),
      ...(countDaysBetween(record.lastDay, toUtcDay(world.now())) <= DAYS_RETAINED
        ? [
            addToDay(
              hashDomain(world, owner, domain),
              getShard(world, canonical),
              record.lastDay,
              { people: -1 },
              [],
            ),
          ]
        : []),
    ]);
    if (outcome === "committed") return true;
    // Refused: an event came between. Ambiguous: the next look tells.
  }
  throw new Error("events come faster than they can be forgotten; try again");
};
