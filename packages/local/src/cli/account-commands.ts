import { iterateAccounts } from "@mailproof/core/accounts/account-items";
import { findAccount, renameAccount } from "@mailproof/core/accounts/accounts";
import type { ApiKey } from "@mailproof/core/accounts/api-key-items";
import { findKeyById, listKeys, revokeKey } from "@mailproof/core/accounts/api-keys";
import { Failure } from "@mailproof/core/lib/failure";
import { getBalance } from "@mailproof/core/money/balance";
import { toCredits } from "@mailproof/core/money/credits";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import {
  type AdminDefinition,
  createNoAccountError,
  definePortable,
  Name,
} from "./define-admin.ts";
import type { Command } from "./define-command.ts";

const getExisting = async ({ table }: World, id: string) => {
  const account = await findAccount(table, id);
  if (!account) throw createNoAccountError(id);
  return account;
};

/** What identifies a key, and never the key. */
const formatKey = ({ id, name, mode, scopes, hint, createdAt }: ApiKey) => ({
  key_id: id,
  name,
  mode,
  scopes,
  hint,
  created_at: createdAt,
});

/** The operator's view of accounts and keys. */
export const accountDefinitions: readonly AdminDefinition<Command["options"], World>[] = [
  definePortable({
    name: "admin accounts list",
    usage: "",
    options: v.strictObject({}),
    async run({ table }) {
      const accounts = await Array.fromAsync(iterateAccounts(table));
      return {
        output: accounts.map(({ account, name, plan, createdAt }) => ({
          account_id: account,
          name,
          plan,
          created_at: createdAt,
        })),
      };
    },
  }),

  definePortable({
    name: "admin accounts show",
    usage: "--account A",
    options: v.strictObject({ account: Name }),
    async run(world, { account: id }) {
      const { account, name, plan, createdAt } = await getExisting(world, id);
      const { available, held, spent } = await getBalance(world.table, id);
      const keys = await listKeys(world.table, id);
      return {
        output: {
          account_id: account,
          name,
          plan,
          created_at: createdAt,
          credits: {
            available: toCredits(available),
            held: toCredits(held),
            spent: toCredits(spent),
          },
          keys: keys.length,
        },
      };
    },
  }),

  definePortable({
    name: "admin accounts rename",
    usage: "--account A --name N",
    options: v.strictObject({ account: Name, name: Name }),
    async run(world, { account, name }) {
      await renameAccount(world.table, account, name);
      return { output: { account_id: account, name } };
    },
  }),

  definePortable({
    name: "admin keys list",
    usage: "--account A",
    options: v.strictObject({ account: Name }),
    async run(world, { account }) {
      await getExisting(world, account);
      return { output: (await listKeys(world.table, account)).map(formatKey) };
    },
  }),

  definePortable({
    name: "admin keys revoke",
    usage: "--account A --key K",
    options: v.strictObject({ account: Name, key: Name }),
    async run(world, { account, key: id }) {
      await getExisting(world, account);
      const key = await findKeyById(world.table, account, id);
      if (!key) throw new Failure("NOT_FOUND", "nothing_charged", `The account has no key ${id}.`);
      await revokeKey(world.table, key);
      return { output: { key_id: id, revoked: true } };
    },
  }),
];
