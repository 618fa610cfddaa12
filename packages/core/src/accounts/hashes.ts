import { createHmac } from "node:crypto";
import type { World } from "../ports/world.ts";

// Hashes replace addresses, domains and events in keys of the table. Without the activity key nobody can search a leaked table
// for an address, and each owner has a different hash of an address.

type HashSettings = Pick<World, "settings">;

/**
 * The hashes of one thing: by the activity key, with which new items are stored, and by the key before, if the operator has set
 * one. Stored items are read, and erased, under each.
 */
export type Hashes = readonly [current: string, ...before: string[]];

export const hashAddress = (world: HashSettings, owner: string, canonical: string): string =>
  listAddressHashes(world, owner, canonical)[0];

export const listAddressHashes = (world: HashSettings, owner: string, canonical: string): Hashes =>
  listHashes(world, "address", owner, canonical);

export const listDomainHashes = (world: HashSettings, owner: string, domain: string): Hashes =>
  listHashes(world, "domain", owner, domain);

/** `source` separates ids of clients from ids that this service made. */
export const listEventHashes = (
  world: HashSettings,
  account: string,
  source: string,
  id: string,
): Hashes => listHashes(world, "event", account, source, id);

/** A visitor of a public key's page, hashed per key: one IPv4 address, or one /64 network (RFC 6177). */
export const hashVisitor = (world: HashSettings, keyId: string, network: string): string =>
  listHashes(world, "visitor", keyId, network)[0];

/** Returns the shard of an address, equal for every owner. */
export const getShard = (world: HashSettings, canonical: string, shards: number): number =>
  computeDigest(world.settings.activityKey, ["shard", canonical]).readUInt32BE() % shards;

const CONTRIBUTOR_TAGS = 64;

/** Distinguishes accounts without identifying them. Two accounts may share a tag, so tags never outnumber accounts. */
export const getContributorTag = (world: HashSettings, account: string): number =>
  computeDigest(world.settings.activityKey, ["account", account]).readUInt32BE() % CONTRIBUTOR_TAGS;

const listHashes = ({ settings }: HashSettings, ...parts: readonly string[]): Hashes => {
  const { activityKey, activityKeyBefore } = settings;
  const hash = (key: string): string => computeDigest(key, parts).toString("base64url");
  return activityKeyBefore === null
    ? [hash(activityKey)]
    : [hash(activityKey), hash(activityKeyBefore)];
};

/** Hashes JSON, because two different lists of parts never have the same JSON. */
const computeDigest = (key: string, parts: readonly string[]): Buffer =>
  createHmac("sha256", key).update(JSON.stringify(parts)).digest();
