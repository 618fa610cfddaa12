import { ownerOf, type Payer } from "../access/payer.ts";
import type { CheckWorld } from "../deliverability/names.ts";
import type { Address } from "../mail/address.ts";
import type { World } from "../world.ts";
import { blacklistStatus } from "./blacklist.ts";
import { addressHash } from "./hashes.ts";
import { findKnown, type Known } from "./items.ts";
import { type Activity, activityOf } from "./levels.ts";
import { MARKS_ENOUGH, POOL } from "./pool.ts";
import { pretendActivity, pretendReputation } from "./pretend.ts";
import { domainActivity, type Reputation } from "./reputation.ts";

/** What an account may know of an address; undefined when nothing was ever told of it. */
export const findActivity = async (
  world: World,
  payer: Payer,
  address: Address,
): Promise<Activity | undefined> => {
  const now = world.now();
  if (payer.mode === "test") return pretendActivity(address, now);
  const pooled = await findPooled(world, address);
  if (pooled) return activityOf(pooled, now);
  const own = await find(world, ownerOf(payer), address);
  return own && activityOf(own, now);
};

/** How the addresses of a domain take mail, as far as an account may know it, and what is said of the domain. */
export const findReputation = async (
  world: CheckWorld,
  payer: Payer,
  domain: string,
): Promise<Reputation> => {
  if (payer.mode === "test") return pretendReputation(domain, world.now());
  const [activity, blacklist] = await Promise.all([
    domainActivity(world, payer, domain),
    blacklistStatus(world, domain),
  ]);
  return { ...activity, blacklist };
};

const find = (world: World, owner: string, { canonical }: Address): Promise<Known | undefined> =>
  findKnown(world.table, addressHash(world, owner, canonical));

/** What the pool knows, once it is nobody's alone. The hour at which somebody reads his mail stays out of it. */
const findPooled = async (world: World, address: Address): Promise<Known | undefined> => {
  if (world.settings.activityPool !== "shared") return undefined;
  const known = await find(world, POOL, address);
  return known && known.marks.length >= MARKS_ENOUGH
    ? { ...known, lastOpen: toDay(known.lastOpen), lastClick: toDay(known.lastClick) }
    : undefined;
};

const toDay = (at: string | null): string | null => at && `${at.slice(0, 10)}T00:00:00.000Z`;
