import { toKeySummary } from "@mailproof/api/schema/api-keys";
import { getExistingAccount } from "@mailproof/core/accounts/accounts";
import type { ApiKey } from "@mailproof/core/accounts/api-key-items";
import {
  createKey,
  findKeyById,
  listKeys,
  readLastUses,
  revokeKey,
  rotateKey,
} from "@mailproof/core/accounts/api-keys";
import { isNetwork, NETWORKS_MAX } from "@mailproof/core/accounts/key-networks";
import { SCOPES } from "@mailproof/core/accounts/scopes";
import { Failure } from "@mailproof/core/lib/failure";
import { KEY_MODES } from "@mailproof/core/money/payer";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import { passing } from "../environment.ts";
import { Duration, Expiry, toExpiryDate } from "./amounts.ts";
import { definePortable, Name } from "./define-admin.ts";
import { UsageError } from "./define-command.ts";

const splitWords = (text: string): string[] => [
  ...new Set(text.split(",").map((word) => word.trim())),
];

const Scopes = v.pipe(
  v.string(),
  v.transform(splitWords),
  v.array(v.picklist(SCOPES, `must be a list of ${SCOPES.join(", ")}`)),
);
const Networks = v.pipe(
  v.string(),
  v.transform(splitWords),
  v.maxLength(NETWORKS_MAX, `must have at most ${NETWORKS_MAX} blocks`),
  v.array(
    passing(isNetwork, "must be a list of address blocks such as 192.0.2.0/24,2001:db8::/32"),
  ),
);

/** Identifies a key as GET /v1/api-keys does, and never shows the key itself. */
const formatKey = (key: ApiKey, lastUsedAt: string | undefined) => ({
  ...toKeySummary(key),
  last_used_at: lastUsedAt ?? null,
});

const getExistingKey = async ({ table }: World, account: string, id: string): Promise<ApiKey> => {
  await getExistingAccount(table, account);
  const key = await findKeyById(table, account, id);
  if (key) return key;
  throw new Failure("NOT_FOUND", "nothing_charged", `The account has no key ${id}.`);
};

export const keyDefinitions = {
  "admin keys list": definePortable({
    usage: "--account A",
    options: v.strictObject({ account: Name }),
    async run({ table }, { account }) {
      await getExistingAccount(table, account);
      const keys = await listKeys(table, account);
      const uses = await readLastUses(table, keys);
      return { output: keys.map((key, at) => formatKey(key, uses[at])) };
    },
  }),

  "admin keys create": definePortable({
    usage:
      "--account A --mode live|test [--scopes s,…] [--name N] [--expires 90d|DATE] [--networks n,…]",
    options: v.strictObject({
      account: Name,
      mode: v.picklist(KEY_MODES, "must be live or test"),
      scopes: v.optional(Scopes),
      name: v.optional(Name, "Created by an operator"),
      expires: v.optional(Expiry),
      networks: v.optional(Networks),
    }),
    async run(world, { account, mode, scopes = null, name, expires, networks }) {
      await getExistingAccount(world.table, account);
      const expiresAt = expires === undefined ? undefined : toExpiryDate(expires, world.now());
      if (expiresAt && expiresAt <= world.now())
        throw new UsageError("--expires must be in the future");
      const { key, secret } = await createKey(world, {
        account,
        name,
        mode,
        scopes,
        ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
        ...(networks && { networks }),
      });
      return { output: { key_id: key.id, key: secret, expires_at: key.expiresAt ?? null } };
    },
  }),

  "admin keys revoke": definePortable({
    usage: "--account A --key K",
    options: v.strictObject({ account: Name, key: Name }),
    async run(world, { account, key: id }) {
      await revokeKey(world.table, await getExistingKey(world, account, id));
      return { output: { key_id: id, revoked: true } };
    },
  }),

  "admin keys rotate": definePortable({
    usage: "--account A --key K [--overlap 24h]",
    options: v.strictObject({
      account: Name,
      key: Name,
      overlap: v.optional(Duration, "24h"),
    }),
    async run(world, { account, key: id, overlap }) {
      const old = await getExistingKey(world, account, id);
      const { minted, oldExpiresAt } = await rotateKey(world, old, overlap);
      return {
        output: {
          key_id: minted.key.id,
          key: minted.secret,
          expires_at: minted.key.expiresAt ?? null,
          old_key_id: id,
          old_expires_at: oldExpiresAt ?? null,
          old_revoked: oldExpiresAt === undefined,
        },
      };
    },
  }),
};
