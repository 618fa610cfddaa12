import { Failure } from "../lib/failure.ts";
import { addMs, HOUR_MS, isUnexpired } from "../lib/time.ts";
import type { Table, Write } from "../ports/table.ts";
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
/** `secret` is the key itself. It is not stored, so the caller shows it now or never. */
export type MintedKey = { readonly key: ApiKey; readonly secret: string; readonly writes: Write[] };

/** Generates a key. It exists once its writes are committed. */
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
  // Expired keys keep their place until it is needed.
  if (result.outcome === "refused" && (await removeExpiredKeys(world, request)) > 0)
    result = await world.table.transact(writes);
  if (result.outcome === "committed") return minted;
  if (result.outcome === "ambiguous") throw createUnknownKeyFailure();
  throw createLimitFailure(request.mode);
};

export type RotatedKey = {
  readonly minted: MintedKey;
  /** Undefined: it was revoked at once. */
  readonly oldExpiresAt: string | undefined;
};

/**
 * A new key with the rights of the old one, which is accepted for `overlapMs` more. A key that expires gets a successor
 * with the same lifetime.
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
      ? // The new key takes the place of the old one, so their number stays.
        [...minted.writes, ...buildKeyRemoval(old)]
      : [count, ...minted.writes, ...buildExpiryWrites(old, oldExpiresAt)],
  );
  if (result.outcome === "ambiguous") throw createUnknownKeyFailure();
  if (result.outcome === "refused" && result.refusedWrite === count) throw createLimitFailure(mode);
  if (result.outcome === "refused")
    throw new Failure("NOT_FOUND", "nothing_charged", `The account has no key ${old.id}.`);
  return { minted, oldExpiresAt: overlapMs === 0 ? undefined : oldExpiresAt };
};

/** How many were removed. */
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

/** The key of this secret, or undefined if it never existed or no longer does. */
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

/** A key that is used all the time costs one write an hour for this. */
const LAST_USE_EVERY_MS = HOUR_MS;

/** Best effort: a use that is not stored is stored with the next one. */
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

export const findKeyById = async (
  table: Table,
  account: string,
  id: string,
): Promise<ApiKey | undefined> => {
  const item = await table.get(toKeyById(account, id));
  return item && readApiKey(item);
};

/** When each of the keys was last used, if it ever was. */
export const readLastUses = async (
  table: Table,
  keys: readonly ApiKey[],
): Promise<readonly (string | undefined)[]> => {
  const items = await Promise.all(keys.map(({ hash }) => table.get(toKeyByHash(hash))));
  return items.map((item) => item && readApiKey(item).lastUsedAt);
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
      "It is not known whether the key was revoked. Send the request again.",
    );
};

const createUnknownKeyFailure = () =>
  createUnknownOutcomeFailure(
    "It is not known whether the key was created. Check the list of keys.",
  );

const createLimitFailure = (mode: ApiKey["mode"]): Failure => {
  const what = `The account already has ${KEYS_MAX} ${mode} keys, the maximum. Revoke one first.`;
  return new Failure("LIMIT_REACHED", "nothing_charged", what);
};

const createUnknownOutcomeFailure = (what: string) =>
  new Failure("UNAVAILABLE", "nothing_charged", what);
