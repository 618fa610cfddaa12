import * as v from "valibot";
import { everyItem } from "../every-item.ts";
import type { Item, Key, Table, Write } from "../table.ts";
import { KEY_MODES } from "./key-form.ts";
import { ownerOf } from "./payer.ts";
import { SCOPES } from "./scopes.ts";

// Layout. A key is found by its hash when it is used and by its id when it is managed; both items are written
// and removed together, so neither is ever there alone.
//
//   pk                  sk        what
//   KEY#<hash>          KEY       what the key may do, for authentication
//   KEYS#<account>      <id>      the same facts and the hash, for the list and for revoking
//   KEYCOUNT#<owner>    KEYCOUNT  keys: how many there are, so that racing requests cannot pass the limit

const ApiKey = v.object({
  id: v.string(),
  hash: v.string(),
  account: v.string(),
  name: v.string(),
  mode: v.picklist(KEY_MODES),
  /** Null: unrestricted. */
  scopes: v.nullable(v.array(v.picklist(SCOPES))),
  hint: v.string(),
  createdAt: v.string(),
});

export type ApiKey = Readonly<v.InferOutput<typeof ApiKey>>;

export const keyByHash = (hash: string): Key => ({ pk: `KEY#${hash}`, sk: "KEY" });
export const keyById = (account: string, id: string): Key => ({ pk: keysOf(account), sk: id });
export const readKey = (item: Item): ApiKey => v.parse(ApiKey, item);

export const writesOfNewKey = (key: ApiKey): Write[] => [
  { create: { ...keyByHash(key.hash), ...key } },
  { create: { ...keyById(key.account, key.id), ...key } },
];

export const writesOfRevokedKey = (key: ApiKey): Write[] => [
  { remove: keyById(key.account, key.id) },
  { remove: keyByHash(key.hash) },
  // Made where there is none: an account of before there were two counts must be able to revoke.
  { update: keyCount(key), add: { keys: -1 }, orCreate: true },
];

export const firstKeyCount = (key: Counted): Write => ({ create: { ...keyCount(key), keys: 1 } });

export const oneMoreKey = (key: Counted): Write => ({
  update: keyCount(key),
  add: { keys: 1 },
  leaving: { keys: { atMost: KEYS_MAX } },
  orCreate: true,
});

/**
 * Of each mode. More than anybody manages by hand; a script that mints keys in a loop meets it, and whoever found a test
 * key takes no room from live ones, nor learns how many there are.
 */
export const KEYS_MAX = 100;

type Counted = Pick<ApiKey, "account" | "mode">;
const keyCount = (key: Counted): Key => ({ pk: `KEYCOUNT#${ownerOf(key)}`, sk: "KEYCOUNT" });

export async function* keysListed(table: Table, account: string): AsyncGenerator<ApiKey> {
  for await (const item of everyItem(table, { pk: keysOf(account) })) yield readKey(item);
}

const keysOf = (account: string): string => `KEYS#${account}`;
