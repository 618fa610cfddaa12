import { KEY_MODES } from "@mailproof/core/access/key-form";
import { addKey } from "@mailproof/core/access/keys";
import { SCOPES } from "@mailproof/core/access/scopes";
import { findAccount, grantCredits, openAccount } from "@mailproof/core/accounts/accounts";
import { PLAN_IDS } from "@mailproof/core/accounts/plans";
import { Failure } from "@mailproof/core/failure";
import { audit } from "@mailproof/core/money/audit";
import { credits, toCredits } from "@mailproof/core/money/credits";
import * as v from "valibot";
import { command } from "./command.ts";

const Text = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, "must not be empty"),
  v.maxLength(100, "must have at most 100 characters"),
);
const Amount = v.pipe(
  v.string(),
  v.regex(/^\d{1,12}(\.[05])?$/, "must be a number of credits such as 100 or 0.5"),
  v.transform((text) => credits(Number(text))),
);
const Scopes = v.pipe(
  v.string(),
  v.transform((text) => text.split(",").map((scope) => scope.trim())),
  v.array(v.picklist(SCOPES, `must be a list of ${SCOPES.join(", ")}`)),
);

/** What an operator does by hand. The answers are JSON, so a script can do it too. */
export const adminCommands = [
  command({
    words: "admin accounts create",
    usage: "--name N [--plan free|pro|scale] [--credits C]",
    mayBegin: true,
    options: v.strictObject({
      name: Text,
      plan: v.optional(v.picklist(PLAN_IDS, `must be one of ${PLAN_IDS.join(", ")}`), "free"),
      credits: v.optional(Amount, "0"),
    }),
    async run(world, { name, plan, credits: opening }) {
      const { account, liveKey, testKey } = await openAccount(world, { name, plan, opening });
      return { output: { account_id: account, live_key: liveKey, test_key: testKey } };
    },
  }),

  command({
    words: "admin keys create",
    usage: "--account A --mode live|test [--scopes s,…] [--name N]",
    options: v.strictObject({
      account: Text,
      mode: v.picklist(KEY_MODES, "must be live or test"),
      scopes: v.optional(Scopes),
      name: v.optional(Text, "Created by an operator"),
    }),
    async run(world, { account, mode, scopes = null, name }) {
      if (!(await findAccount(world.table, account))) throw noAccount(account);
      const { key, secret } = await addKey(world, { account, name, mode, scopes });
      return { output: { key_id: key.id, key: secret } };
    },
  }),

  command({
    words: "admin credits grant",
    usage: "--account A --amount C",
    options: v.strictObject({
      account: Text,
      amount: v.pipe(
        Amount,
        v.check((amount) => amount > 0, "must be more than nothing"),
      ),
    }),
    async run(world, { account, amount }) {
      const { available } = await grantCredits(world, account, amount);
      return { output: { account_id: account, available: toCredits(available) } };
    },
  }),

  command({
    words: "admin audit",
    usage: "",
    options: v.strictObject({}),
    async run(world) {
      const output = await audit(world.table, world.now());
      return { output, exitCode: output.ok ? 0 : 1 };
    },
  }),
] as const;

const noAccount = (account: string) =>
  new Failure("NOT_FOUND", "nothing_charged", `There is no account ${account}.`);
