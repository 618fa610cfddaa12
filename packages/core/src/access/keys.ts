import { Failure } from "../failure.ts";
import type { Table, Write } from "../table.ts";
import type { World } from "../world.ts";
import {
  type ApiKey,
  KEYS_MAX,
  keyByHash,
  keyById,
  keysListed,
  oneMoreKey,
  readKey,
  writesOfNewKey,
  writesOfRevokedKey,
} from "./items.ts";
import { hashKey, hintOf, isKeyForm, makeKey } from "./key-form.ts";

type NewKey = Pick<ApiKey, "account" | "name" | "mode" | "scopes">;
/** `secret` is the key itself. It is nowhere else, so whoever gets this shows it or loses it. */
export type Minted = { readonly key: ApiKey; readonly secret: string; readonly writes: Write[] };

/** A key that will exist once its writes are committed. */
export const mintKey = (world: World, wanted: NewKey): Minted => {
  const secret = makeKey(wanted.mode, world.randomBytes);
  const key: ApiKey = {
    ...wanted,
    id: world.newId("key"),
    hash: hashKey(secret, world.settings.keyPepper),
    hint: hintOf(secret),
    createdAt: world.now().toISOString(),
  };
  return { key, secret, writes: writesOfNewKey(key) };
};

export const addKey = async (world: World, wanted: NewKey): Promise<Minted> => {
  const minted = mintKey(world, wanted);
  const result = await world.table.transact([oneMoreKey(wanted), ...minted.writes]);
  if (result.outcome === "committed") return minted;
  if (result.outcome === "ambiguous")
    throw unknownOutcome("It is not known whether the key was created; look at the list.");
  const what = `The account has ${KEYS_MAX} ${wanted.mode} keys; revoke one first.`;
  throw new Failure("LIMIT_REACHED", "nothing_charged", what);
};

/** The key behind what a caller sent, or undefined for whatever is not a key in force. */
export const findKey = async (world: World, sent: string): Promise<ApiKey | undefined> => {
  if (!isKeyForm(sent)) return undefined;
  const item = await world.table.get(keyByHash(hashKey(sent, world.settings.keyPepper)));
  return item && readKey(item);
};

export const findKeyById = async (
  table: Table,
  account: string,
  id: string,
): Promise<ApiKey | undefined> => {
  const item = await table.get(keyById(account, id));
  return item && readKey(item);
};

/** Newest first. */
export const listKeys = async (table: Table, account: string): Promise<ApiKey[]> => {
  const keys = await Array.fromAsync(keysListed(table, account));
  return keys.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
};

/** From the moment this returns the key opens nothing. */
export const revokeKey = async (table: Table, key: ApiKey): Promise<void> => {
  const { outcome } = await table.transact(writesOfRevokedKey(key));
  // Refused: somebody else removed it at the same moment, which is as good.
  if (outcome === "ambiguous")
    throw unknownOutcome("It is not known whether the key is revoked; send this again.");
};

const unknownOutcome = (what: string) => new Failure("UNAVAILABLE", "nothing_charged", what);
