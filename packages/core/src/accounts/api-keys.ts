import { Failure } from "../lib/failure.ts";
import type { Table, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import {
  type ApiKey,
  buildNewKeyWrites,
  buildRevokeKeyWrites,
  incrementKeyCount,
  iterateKeys,
  KEYS_MAX,
  readApiKey,
  toKeyByHash,
  toKeyById,
} from "./api-key-items.ts";
import { generateKey, hashKey, isWellFormedKey, toKeyHint } from "./key-format.ts";

type ApiKeyRequest = Pick<ApiKey, "account" | "name" | "mode" | "scopes">;
/** `secret` is the key itself. It is nowhere else, so whoever gets this shows it or loses it. */
export type MintedKey = { readonly key: ApiKey; readonly secret: string; readonly writes: Write[] };

/** A key that will exist once its writes are committed. */
export const mintKey = (world: World, request: ApiKeyRequest): MintedKey => {
  const secret = generateKey(request.mode, world.randomBytes);
  const key: ApiKey = {
    ...request,
    id: world.newId("key"),
    hash: hashKey(secret, world.settings.keyPepper),
    hint: toKeyHint(secret),
    createdAt: world.now().toISOString(),
  };
  return { key, secret, writes: buildNewKeyWrites(key) };
};

export const createKey = async (world: World, request: ApiKeyRequest): Promise<MintedKey> => {
  const minted = mintKey(world, request);
  const result = await world.table.transact([incrementKeyCount(request), ...minted.writes]);
  if (result.outcome === "committed") return minted;
  if (result.outcome === "ambiguous")
    throw createUnknownOutcomeFailure(
      "It is not known whether the key was created; look at the list.",
    );
  const what = `The account has ${KEYS_MAX} ${request.mode} keys; revoke one first.`;
  throw new Failure("LIMIT_REACHED", "nothing_charged", what);
};

/** The key behind what a caller sent, or undefined for whatever is not a key in force. */
export const findKey = async (world: World, secret: string): Promise<ApiKey | undefined> => {
  if (!isWellFormedKey(secret)) return undefined;
  const item = await world.table.get(toKeyByHash(hashKey(secret, world.settings.keyPepper)));
  return item && readApiKey(item);
};

export const findKeyById = async (
  table: Table,
  account: string,
  id: string,
): Promise<ApiKey | undefined> => {
  const item = await table.get(toKeyById(account, id));
  return item && readApiKey(item);
};

/** Newest first. */
export const listKeys = async (table: Table, account: string): Promise<ApiKey[]> => {
  const keys = await Array.fromAsync(iterateKeys(table, account));
  return keys.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
};

/** From the moment this returns the key opens nothing. */
export const revokeKey = async (table: Table, key: ApiKey): Promise<void> => {
  const { outcome } = await table.transact(buildRevokeKeyWrites(key));
  // Refused: somebody else removed it at the same moment, which is as good.
  if (outcome === "ambiguous")
    throw createUnknownOutcomeFailure(
      "It is not known whether the key is revoked; send this again.",
    );
};

const createUnknownOutcomeFailure = (what: string) =>
  new Failure("UNAVAILABLE", "nothing_charged", what);
