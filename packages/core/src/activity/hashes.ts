import { createHmac } from "node:crypto";
import type { World } from "../world.ts";
import { SHARDS } from "./items.ts";

// What stands in a key of the table in the place of an address, a domain or an event. Without the key of the settings
// nobody can try addresses against it, and one address has another hash with each owner.

type Keyed = Pick<World, "settings">;

export const addressHash = (world: Keyed, owner: string, canonical: string): string =>
  hashOf(world, "address", owner, canonical);

export const domainHash = (world: Keyed, owner: string, domain: string): string =>
  hashOf(world, "domain", owner, domain);

/** `source` keeps the ids that a caller chose apart from those that we made. */
export const eventHash = (world: Keyed, account: string, source: string, id: string): string =>
  hashOf(world, "event", account, source, id);

/** An address always writes to the same one, whoever its owner is. */
export const shardOf = (world: Keyed, canonical: string): number =>
  digest(world, ["shard", canonical]).readUInt32BE() % SHARDS;

const MARKS = 64;

/** Tells accounts apart without naming them. Two may share a mark, so counting marks never counts too many. */
export const markOf = (world: Keyed, account: string): number =>
  digest(world, ["account", account]).readUInt32BE() % MARKS;

const hashOf = (world: Keyed, ...parts: readonly string[]): string =>
  digest(world, parts).toString("base64url");

/** As JSON, so that no two lists of parts read the same. */
const digest = ({ settings }: Keyed, parts: readonly string[]): Buffer =>
  createHmac("sha256", settings.activityKey).update(JSON.stringify(parts)).digest();
