import { createHmac } from "node:crypto";
import type { World } from "../ports/world.ts";

// Hashes replace addresses, domains and events in keys of the table. Without the activity key nobody can search a leaked table
// for an address, and each owner has a different hash of an address.

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

/** A visitor of a public key's page, hashed per key: one IPv4 address, or one /64 network (RFC 6177). */
export const hashVisitor = (world: HashSettings, keyId: string, network: string): string =>
  hashParts(world, "visitor", keyId, network);

/** Returns the shard of an address, equal for every owner. */
export const getShard = (world: HashSettings, canonical: string, shards: number): number =>
  computeDigest(world, ["shard", canonical]).readUInt32BE() % shards;

const CONTRIBUTOR_TAGS = 64;

/** Distinguishes accounts without identifying them. Two accounts may share a tag, so tags never outnumber accounts. */
export const getContributorTag = (world: HashSettings, account: string): number =>
  computeDigest(world, ["account", account]).readUInt32BE() % CONTRIBUTOR_TAGS;

const hashParts = (world: HashSettings, ...parts: readonly string[]): string =>
  computeDigest(world, parts).toString("base64url");

/** Hashes JSON, because two different lists of parts never have the same JSON. */
const computeDigest = ({ settings }: HashSettings, parts: readonly string[]): Buffer =>
  createHmac("sha256", settings.activityKey).update(JSON.stringify(parts)).digest();
