import type { Address } from "@mailproof/mail/address";
import { hashAddress, listAddressHashes } from "../accounts/hashes.ts";
import type { CheckWorld } from "../deliverability/dns-lookups.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import { type Activity, toActivity } from "./activity-level.ts";
import { findBlocklistStatus } from "./blocklist-status.ts";
import { type AddressRecord, findRecord } from "./items.ts";
import { type DomainReputation, findDomainActivity } from "./reputation.ts";
import { getSandboxActivity, getSandboxReputation } from "./sandbox.ts";
import { CONTRIBUTORS_MIN, SHARED_POOL } from "./shared-pool.ts";

/** Returns the activity of an address that the account may see; undefined when no event was ever reported. */
export const findActivity = async (
  world: World,
  payer: Payer,
  address: Address,
): Promise<Activity | undefined> => {
  const now = world.now();
  if (payer.mode === "test") return getSandboxActivity(address, now);
  const pooled = await findPooledRecord(world, address);
  if (pooled) return toActivity(pooled, now);
  const own = await findOwnRecord(world, getOwnerId(payer), address);
  return own && toActivity(own, now);
};

export const findReputation = async (
  world: CheckWorld,
  payer: Payer,
  domain: string,
): Promise<DomainReputation> => {
  if (payer.mode === "test") return getSandboxReputation(domain, world.now());
  const [activity, blacklist] = await Promise.all([
    findDomainActivity(world, payer, domain),
    findBlocklistStatus(world, domain),
  ]);
  return { ...activity, blocklist: blacklist };
};

const findOwnRecord = (
  world: World,
  owner: string,
  { canonical }: Address,
): Promise<AddressRecord | undefined> =>
  findRecord(world.table, ...listAddressHashes(world, owner, canonical));

/**
 * Returns the shared pool's record once enough accounts contributed to it. Times are truncated to days, because the hour at
 * which a person reads mail is private. A record by the key before does not count: its tags would count each account twice.
 */
const findPooledRecord = async (
  world: World,
  address: Address,
): Promise<AddressRecord | undefined> => {
  if (world.settings.activityPool !== "shared") return undefined;
  const record = await findRecord(world.table, hashAddress(world, SHARED_POOL, address.canonical));
  return record && record.marks.length >= CONTRIBUTORS_MIN
    ? { ...record, lastOpen: toMidnight(record.lastOpen), lastClick: toMidnight(record.lastClick) }
    : undefined;
};

const toMidnight = (at: string | null): string | null => at && `${at.slice(0, 10)}T00:00:00.000Z`;
