import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import { getOwnerId, KEY_MODES } from "../money/payer.ts";
import type { Item, Key, Table, Write } from "../ports/table.ts";
import { SCOPES } from "./scopes.ts";

// Layout. Authentication finds a key by its hash, management by its id. One transaction writes or removes both items, so
// neither exists without the other.
//
//   pk                  sk        content
//   KEY#<hash>          KEY       the key's account and scopes, for authentication; the time of its last use
//   KEYS#<account>      <id>      the same fields, for the list and for revoking
//   KEYCOUNT#<owner>    KEYCOUNT  keys: the number of keys, so that concurrent requests cannot exceed the limit

const ApiKey = v.object({
  id: v.string(),
  hash: v.string(),
  account: v.string(),
  name: v.string(),
  mode: v.picklist(KEY_MODES),
  /** Null when the key is unrestricted. */
  scopes: v.nullable(v.array(v.picklist(SCOPES))),
  hint: v.string(),
  createdAt: v.string(),
  /** From this time on the service refuses the key. The list shows it until it is revoked or a new key needs its place. */
  expiresAt: v.optional(v.string()),
  /** The CIDR blocks from which clients may use the key, as the client wrote them. Absent when any address may. */
  networks: v.optional(v.array(v.string())),
  /**
   * A public key stands in a page and verifies only what visitors type there. Its scopes are empty, so 0.2.0, which lacks this
   * field, permits it nothing.
   */
  publicUse: v.optional(
    v.object({
      /** Each origin has the form of a browser's Origin header. */
      origins: v.array(v.string()),
      dailyMax: v.number(),
    }),
  ),
  /** Stored at most once an hour, and only in the item with the hash. */
  lastUsedAt: v.optional(v.string()),
});

export type ApiKey = Readonly<v.InferOutput<typeof ApiKey>>;
export type PublicUse = NonNullable<ApiKey["publicUse"]>;

export const toKeyByHash = (hash: string): Key => ({ pk: `KEY#${hash}`, sk: "KEY" });
export const toKeyById = (account: string, id: string): Key => ({
  pk: toKeysPartition(account),
  sk: id,
});
export const readApiKey = (item: Item): ApiKey => v.parse(ApiKey, item);

export const buildNewKeyWrites = (key: ApiKey): Write[] => [
  { create: { ...toKeyByHash(key.hash), ...key } },
  { create: { ...toKeyById(key.account, key.id), ...key } },
];

export const buildKeyRemoval = (key: ApiKey): Write[] => [
  { remove: toKeyById(key.account, key.id) },
  { remove: toKeyByHash(key.hash) },
];

export const buildRevokeKeyWrites = (key: ApiKey): Write[] => [
  ...buildKeyRemoval(key),
  { update: toKeyCountKey(key), add: { keys: -1 } },
];

/** Ends the old key of a rotation at this time, in both items. */
export const buildExpiryWrites = (key: ApiKey, expiresAt: string): Write[] =>
  [toKeyById(key.account, key.id), toKeyByHash(key.hash)].map((update) => ({
    update,
    set: { expiresAt },
  }));

export const createKeyCount = (key: KeyOwner): Write => ({
  create: { ...toKeyCountKey(key), keys: 1 },
});

export const incrementKeyCount = (key: KeyOwner): Write => ({
  update: toKeyCountKey(key),
  add: { keys: 1 },
  bounds: { keys: { atMost: KEYS_MAX } },
});

/**
 * The limit of keys per mode: enough for keys that people manage by hand, but it stops a script that creates keys in a loop.
 * Each mode counts separately, so a leaked test key can neither use up the limit of live keys nor reveal how many exist.
 */
export const KEYS_MAX = 100;

type KeyOwner = Pick<ApiKey, "account" | "mode">;
const toKeyCountKey = (key: KeyOwner): Key => ({
  pk: `KEYCOUNT#${getOwnerId(key)}`,
  sk: "KEYCOUNT",
});

export async function* iterateKeys(table: Table, account: string): AsyncGenerator<ApiKey> {
  for await (const item of paginateQuery(table, { pk: toKeysPartition(account) }))
    yield readApiKey(item);
}

const toKeysPartition = (account: string): string => `KEYS#${account}`;
