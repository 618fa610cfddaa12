import { accountsListed } from "../accounts/items.ts";
import type { Address } from "../mail/address.ts";
import { dayOf } from "../moments.ts";
import type { World } from "../world.ts";
import { daysBetween } from "./days.ts";
import { addressHash, domainHash, shardOf } from "./hashes.ts";
import { addToDay, DAYS_KEPT, findKnown, forgetKnown } from "./items.ts";
import { POOL } from "./pool.ts";

const TRIES_MAX = 12;

/**
 * Removes what any account or the pool knows of an address, and takes it out of the number of its domain's addresses.
 * What those did together stays as sums, in which nobody can be found. Events that come later begin a new record.
 * How many records there were.
 */
export const forgetActivity = async (world: World, address: Address): Promise<number> => {
  let forgotten = 0;
  if (await forgetAt(world, POOL, address)) forgotten++;
  for await (const { account } of accountsListed(world.table))
    if (await forgetAt(world, account, address)) forgotten++;
  return forgotten;
};

/** Whether there was anything. */
const forgetAt = async (
  world: World,
  owner: string,
  { canonical, domain }: Address,
): Promise<boolean> => {
  const hash = addressHash(world, owner, canonical);
  let wasThere = false;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const known = await findKnown(world.table, hash);
    if (!known) return wasThere;
    wasThere = true;
    const { outcome } = await world.table.transact([
      forgetKnown(hash, known),
      ...(daysBetween(known.lastDay, dayOf(world.now())) <= DAYS_KEPT
        ? [
            addToDay(
              domainHash(world, owner, domain),
              shardOf(world, canonical),
              known.lastDay,
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
