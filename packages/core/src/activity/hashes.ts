import { createHmac } from "node:crypto";
import type { World } from "../ports/world.ts";
import { SHARDS } from "./items.ts";

// What stands in a key of the table in the place of an address, a domain or an event. Without the key of the settings
// nobody can try addresses against it, and one address has another hash with each owner.

type HashSettings = Pick<World, "settings">;

export const hashAddress = (world: HashSettings, owner: string, canonical: string): string =>
  hashParts(world, "address", owner, canonical);

export const hashDomain = (world: HashSettings, owner: string, domain: string): string =>
  hashParts(world, "domain", owner, domain);

/** `source` keeps the ids that a caller chose apart from those that we made. */
export const hashEvent = (
  world: HashSettings,
  account: string,
  source: string,
  id: string,
): string => hashParts(world, "event", account, source, id);

/** An address always writes to the same one, whoever its owner is. */
export const getShard = (world: HashSettings, canonical: string): number =>
  computeDigest(world, ["shard", canonical]).readUInt32BE() % SHARDS;

const CONTRIBUTOR_TAGS = 64;

/** Tells accounts apart without naming them. Two may share a mark, so counting marks never counts too many. */
export const getContributorTag = (world: HashSettings, account: string): number =>
  computeDigest(world, ["account", account]).readUInt32BE() % CONTRIBUTOR_TAGS;

const hashParts = (world: HashSettings, ...parts: readonly string[]): string =>
  computeDigest(world, parts).toString("base64url");

/** As JSON, so that no two lists of parts read the same. */
const computeDigest = ({ settings }: HashSettings, parts: readonly string[]): Buffer =>
  createHmac("sha256", settings.activityKey).update(JSON.stringify(parts)).digest();
