import { listActiveAccounts } from "@mailproof/core/accounts/account-activity";
import { type Account, getAccountStatus } from "@mailproof/core/accounts/account-items";
import { getExistingAccount, openAccount, updateAccount } from "@mailproof/core/accounts/accounts";
import { listKeys } from "@mailproof/core/accounts/api-keys";
import {
  closeAccount,
  disableAccount,
  enableAccount,
} from "@mailproof/core/background/close-account";
import { getBalance } from "@mailproof/core/money/balance";
import { toCredits } from "@mailproof/core/money/credits";
import { PLAN_IDS } from "@mailproof/core/money/plans";
import * as v from "valibot";
import { Amount } from "./amounts.ts";
import { definePortable, Name } from "./define-admin.ts";
import { Flag, UsageError } from "./define-command.ts";

const Plan = v.picklist(PLAN_IDS, `must be one of ${PLAN_IDS.join(", ")}`);

const formatAccount = (account: Account) => ({
  account_id: account.account,
  name: account.name,
  plan: account.plan,
  status: getAccountStatus(account),
  created_at: account.createdAt,
});

export const accountDefinitions = {
  "admin accounts create": definePortable({
    usage: "--name N [--plan free|pro|scale] [--credits C]",
    mayCreateFolder: true,
    options: v.strictObject({
      name: Name,
      plan: v.optional(Plan, "free"),
      credits: v.optional(Amount, "0"),
    }),
    async run(world, { name, plan, credits: opening }) {
      const { account, liveKey, testKey } = await openAccount(world, { name, plan, opening });
      return { output: { account_id: account, live_key: liveKey, test_key: testKey } };
    },
  }),

  "admin accounts list": definePortable({
    usage: "",
    options: v.strictObject({}),
    async run(world) {
      const output = await Array.fromAsync(
        listActiveAccounts(world),
        ({ account, available, used, lastCallAt = null }) => ({
          ...formatAccount(account),
          available: toCredits(available),
          used_30_days: toCredits(used),
          last_call_at: lastCallAt,
        }),
      );
      return { output };
    },
  }),

  "admin accounts show": definePortable({
    usage: "--account A",
    options: v.strictObject({ account: Name }),
    async run({ table }, { account: id }) {
      const account = await getExistingAccount(table, id);
      const { available, held, spent } = await getBalance(table, id);
      const keys = await listKeys(table, id);
      return {
        output: {
          ...formatAccount(account),
          ...(account.disabledAt !== undefined && { disabled_at: account.disabledAt }),
          ...(account.closedAt !== undefined && { closed_at: account.closedAt }),
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

  "admin accounts rename": definePortable({
    usage: "--account A --name N",
    options: v.strictObject({ account: Name, name: Name }),
    async run({ table }, { account, name }) {
      return { output: formatAccount(await updateAccount(table, account, { name })) };
    },
  }),

  "admin accounts plan": definePortable({
    usage: "--account A --plan free|pro|scale",
    options: v.strictObject({ account: Name, plan: Plan }),
    async run({ table }, { account, plan }) {
      return { output: formatAccount(await updateAccount(table, account, { plan })) };
    },
  }),

  "admin accounts disable": definePortable({
    usage: "--account A",
    options: v.strictObject({ account: Name }),
    async run(world, { account }) {
      const { cancelled, left } = await disableAccount(world, account);
      return {
        output: {
          account_id: account,
          status: "disabled",
          jobs_cancelled: cancelled,
          jobs_left: left,
        },
      };
    },
  }),

  "admin accounts enable": definePortable({
    usage: "--account A",
    options: v.strictObject({ account: Name }),
    async run(world, { account }) {
      return { output: formatAccount(await enableAccount(world, account)) };
    },
  }),

  "admin accounts close": definePortable({
    usage: "--account A --yes",
    options: v.strictObject({ account: Name, yes: Flag }),
    async run(world, { account, yes }) {
      const { name } = await getExistingAccount(world.table, account);
      if (!yes)
        throw new UsageError(
          `This closes ${account} (${name}) for good: its keys are revoked, its members removed, its monitors and webhooks deleted, its open jobs cancelled. Add --yes.`,
        );
      const { keys, members, monitors, webhooks, cancelled, left } = await closeAccount(
        world,
        account,
      );
      return {
        output: {
          account_id: account,
          status: "closed",
          keys_revoked: keys,
          members_removed: members,
          monitors_deleted: monitors,
          webhooks_deleted: webhooks,
          jobs_cancelled: cancelled,
          jobs_left: left,
        },
      };
    },
  }),
};
