import { createHmac } from "node:crypto";
import type { World } from "../ports/world.ts";

// Hashes that replace addresses, domains and events in keys of the table. Without the activity key a leaked table
// cannot be searched for an address, and an address has a different hash for each owner.

type HashSettings = Pick<World, "settings">;

export const hashAddress = (world: HashSettings, owner: string, canonical: string): string =>
  hashParts(world, "address", owner, canonical);

export const hashDomain = (world: HashSettings, owner: string, domain: string): string =>
  hashParts(world, "domain", owner, domain);

/** `source` separates ids of clients from ids that this service made. */
export const hashEvent = (
  world: HashSettings,
  account: string,
  source: string,
  id: string,
): string => hashParts(world, "event", account, source, id);

/** Who stands behind a public key's page: an address, or the /64 of one network (RFC 6177), per key. */
export const hashVisitor = (world: HashSettings, keyId: string, network: string): string =>
  hashParts(world, "visitor", keyId, network);

/** One of this many groups of addresses, the same for every owner. */
export const getShard = (world: HashSettings, canonical: string, shards: number): number =>
  computeDigest(world, ["shard", canonical]).readUInt32BE() % shards;

const CONTRIBUTOR_TAGS = 64;

/**
 * Distinguishes accounts without naming them. Two accounts may share a tag, so the number of tags is never too high.
 */
export const getContributorTag = (world: HashSettings, account: string): number =>
  computeDigest(world, ["account", account]).readUInt32BE() % CONTRIBUTOR_TAGS;

const hashParts = (world: HashSettings, ...parts: readonly string[]): string =>
  computeDigest(world, parts).toString("base64url");

/** As JSON, so that different lists of parts never have the same text. */
const computeDigest = ({ settings }: HashSettings, parts: readonly string[]): Buffer =>
  createHmac("sha256", settings.activityKey).update(JSON.stringify(parts)).digest();
