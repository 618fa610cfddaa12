import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { addMs, HOUR_MS, isUnexpired } from "../lib/time.ts";
import { findItem, type Table, type Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import {
  type ApiKey,
  buildExpiryWrites,
  buildKeyRemoval,
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

type ApiKeyRequest = Pick<
  ApiKey,
  "account" | "name" | "mode" | "scopes" | "expiresAt" | "networks" | "publicUse"
>;
/** `secret` is the key itself. The service does not store it, so the caller must show it now. */
export type MintedKey = { readonly key: ApiKey; readonly secret: string; readonly writes: Write[] };

/** Generates a key, which exists once the caller has committed its writes. */
export const mintKey = (world: World, request: ApiKeyRequest): MintedKey => {
  const secret = generateKey(request.publicUse ? "pub" : request.mode, world.randomBytes);
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
  const count = incrementKeyCount(request);
  const writes = [count, ...minted.writes];
  let result = await world.table.transact(writes);
  // Expired keys count against the limit; they are removed when a new key needs a place.
  if (result.outcome === "refused" && (await removeExpiredKeys(world, request)) > 0)
    result = await world.table.transact(writes);
  if (result.outcome === "committed") return minted;
  if (result.outcome === "ambiguous") throw createUnknownKeyFailure();
  throw createLimitFailure(request.mode);
};

export type RotatedKey = {
  readonly minted: MintedKey;
  /** Undefined when the old key was revoked at once. */
  readonly oldExpiresAt: string | undefined;
};

/**
 * Creates a key with the rights of the old key, which stays valid for `overlapMs`. The successor of an expiring key gets the
 * same lifetime.
 */
export const rotateKey = async (
  world: World,
  old: ApiKey,
  overlapMs: number,
): Promise<RotatedKey> => {
  const now = world.now();
  const { account, name, mode, scopes, networks, publicUse, createdAt, expiresAt } = old;
  const lifetimeMs = expiresAt && Date.parse(expiresAt) - Date.parse(createdAt);
  const minted = mintKey(world, {
    account,
    name,
    mode,
    scopes,
    ...(networks && { networks }),
    ...(publicUse && { publicUse }),
    ...(lifetimeMs && { expiresAt: addMs(now, lifetimeMs).toISOString() }),
  });
  const endsAt = addMs(now, overlapMs).toISOString();
  const oldExpiresAt = expiresAt !== undefined && expiresAt < endsAt ? expiresAt : endsAt;
  const count = incrementKeyCount(old);
  const result = await world.table.transact(
    overlapMs === 0
      ? // The new key replaces the old one, so the number of keys stays.
        [...minted.writes, ...buildKeyRemoval(old)]
      : [count, ...minted.writes, ...buildExpiryWrites(old, oldExpiresAt)],
  );
  if (result.outcome === "ambiguous") throw createUnknownKeyFailure();
  if (result.outcome === "refused" && result.refusedWrite === count) throw createLimitFailure(mode);
  if (result.outcome === "refused")
    throw new Failure("NOT_FOUND", "nothing_charged", `The account has no key ${old.id}.`);
  return { minted, oldExpiresAt: overlapMs === 0 ? undefined : oldExpiresAt };
};

const removeExpiredKeys = async (
  { table, now }: World,
  { account, mode }: Pick<ApiKey, "account" | "mode">,
): Promise<number> => {
  let removed = 0;
  for await (const key of iterateKeys(table, account)) {
    if (key.mode !== mode || !isExpired(key, now())) continue;
    await revokeKey(table, key);
    removed++;
  }
  return removed;
};

const isExpired = ({ expiresAt }: ApiKey, now: Date): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) <= now.getTime();

/** Returns the key of this secret; undefined when no such key exists or it has expired. */
export const findKey = async (world: World, secret: string): Promise<ApiKey | undefined> => {
  if (!isWellFormedKey(secret)) return undefined;
  const { keyPepper, keyPepperBefore } = world.settings;
  const key =
    (await findHashed(world.table, secret, keyPepper)) ??
    (await findHashed(world.table, secret, keyPepperBefore));
  return key && !isExpired(key, world.now()) ? key : undefined;
};

const findHashed = async (
  table: Table,
  secret: string,
  pepper: string | null,
): Promise<ApiKey | undefined> => {
  const item = pepper === null ? undefined : await table.get(toKeyByHash(hashKey(secret, pepper)));
  return item && readApiKey(item);
};

/** A key in constant use costs one write per hour for its last use. */
const LAST_USE_EVERY_MS = HOUR_MS;

/** Never fails: the next use stores a time that was lost. */
export const storeLastUse = async (
  { table, now }: World,
  { hash, lastUsedAt }: Pick<ApiKey, "hash" | "lastUsedAt">,
): Promise<void> => {
  const at = now();
  if (
    lastUsedAt !== undefined &&
    isUnexpired(Date.parse(lastUsedAt) + LAST_USE_EVERY_MS, at.getTime(), LAST_USE_EVERY_MS)
  )
    return;
  const set = { lastUsedAt: at.toISOString() };
  await table.write({ update: toKeyByHash(hash), set }).catch(() => undefined);
};

export const findKeyById = (
  table: Table,
  account: string,
  id: string,
): Promise<ApiKey | undefined> => findItem(table, toKeyById(account, id), readApiKey);

export const readLastUses = async (
  table: Table,
  keys: readonly ApiKey[],
): Promise<readonly (string | undefined)[]> => {
  const items = await Promise.all(keys.map(({ hash }) => table.get(toKeyByHash(hash))));
  return items.map((item) => item && readApiKey(item).lastUsedAt);
};

export const listKeys = async (table: Table, account: string): Promise<ApiKey[]> => {
  const keys = await Array.fromAsync(iterateKeys(table, account));
  return keys.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
};

/** Once this returns, the service no longer accepts the key. */
export const revokeKey = async (table: Table, key: ApiKey): Promise<void> => {
  const { outcome } = await table.transact(buildRevokeKeyWrites(key));
  // "refused": a concurrent request removed the key, which has the same effect.
  if (outcome === "ambiguous")
    throw createUnavailableFailure(
      "It is not known whether the key was revoked. Send the request again.",
    );
};

const createUnknownKeyFailure = () =>
  createUnavailableFailure("It is not known whether the key was created. Check the list of keys.");

const createLimitFailure = (mode: ApiKey["mode"]): Failure => {
  const what = `The account already has ${KEYS_MAX} ${mode} keys, the maximum. Revoke one first.`;
  return new Failure("LIMIT_REACHED", "nothing_charged", what);
};
