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
/** `secret` is the key itself. It is not stored, so the caller shows it now or never. */
export type MintedKey = { readonly key: ApiKey; readonly secret: string; readonly writes: Write[] };

/** Generates a key. It exists once its writes are committed. */
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
      "Unknown whether the key was created. Check the list of keys.",
    );
  const what = `The account already has ${KEYS_MAX} ${request.mode} keys, the maximum. Revoke one first.`;
  throw new Failure("LIMIT_REACHED", "nothing_charged", what);
};

/** The key of this secret, or undefined if there is no such key. */
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

/** When this returns, the key is no longer accepted. */
export const revokeKey = async (table: Table, key: ApiKey): Promise<void> => {
  const { outcome } = await table.transact(buildRevokeKeyWrites(key));
  // Refused: a concurrent request removed it, which has the same effect.
  if (outcome === "ambiguous")
    throw createUnknownOutcomeFailure(
      "Unknown whether the key was revoked. Send the request again.",
    );
};

const createUnknownOutcomeFailure = (what: string) =>
  new Failure("UNAVAILABLE", "nothing_charged", what);
