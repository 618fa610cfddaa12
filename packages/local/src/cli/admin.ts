import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  clawBackCredits,
  findAccount,
  grantCredits,
  openAccount,
} from "@mailproof/core/accounts/accounts";
import { createKey } from "@mailproof/core/accounts/api-keys";
import { KEY_MODES } from "@mailproof/core/accounts/key-format";
import { PLAN_IDS } from "@mailproof/core/accounts/plans";
import { SCOPES } from "@mailproof/core/accounts/scopes";
import { forgetActivity } from "@mailproof/core/activity/forget";
import { audit } from "@mailproof/core/background/audit";
import { reportCalibration } from "@mailproof/core/calibration/report";
import { type Address, isAddress, parseAddress } from "@mailproof/core/mail/address";
import { credits, type Halves, toCredits } from "@mailproof/core/money/credits";
import type { World } from "@mailproof/core/ports/world";
import { listCanaryCounts } from "@mailproof/core/smtp-pool/canaries";
import * as v from "valibot";
import { createApp } from "../app.ts";
import { accountDefinitions } from "./account-commands.ts";
import { formatCalibration } from "./calibration-output.ts";
import {
  type AdminDefinition,
  type AdminResult,
  createNoAccountError,
  definePortable,
  Name as Text,
} from "./define-admin.ts";
import { type Command, defineCommand, Flag, UsageError } from "./define-command.ts";
import { formatProviders } from "./providers-output.ts";
import { webhookDefinitions } from "./webhook-commands.ts";

const Amount = v.pipe(
  v.string(),
  v.regex(/^\d{1,12}(\.[05])?$/, "must be a number of credits such as 100 or 0.5"),
  v.transform((text) => credits(Number(text))),
);
/** A negative amount removes credits. */
const GrantAmount = v.pipe(
  v.string(),
  v.regex(/^-?\d{1,12}(\.[05])?$/, "must be a number of credits such as 100, 0.5 or -5"),
  v.transform((text) => credits(Number(text))),
  v.check((amount) => amount !== 0, "must not be 0"),
);
const Email = v.pipe(
  v.string(),
  v.transform(parseAddress),
  v.custom<Address>((parsed) => isAddress(parsed as Address), "must be an email address"),
);
/** What is stored goes back a year. */
const Months = v.pipe(
  v.string(),
  v.regex(/^(?:[1-9]|1[0-3])$/, "must be a number of months from 1 to 13"),
  v.transform(Number),
);
const Scopes = v.pipe(
  v.string(),
  v.transform((text) => text.split(",").map((scope) => scope.trim())),
  v.array(v.picklist(SCOPES, `must be a list of ${SCOPES.join(", ")}`)),
);

export const printResult = ({ output, exitCode = 0 }: AdminResult): number => {
  process.stdout.write(`${JSON.stringify(output, null, 2)}\n`);
  return exitCode;
};

/** A command on the state of this machine: opens it, runs, prints the answer as JSON, closes it. */
export const defineAppCommand = <O extends Command["options"]>(
  definition: AdminDefinition<O>,
): Command<O> =>
  defineCommand<O>({
    name: definition.name,
    usage: definition.usage,
    options: definition.options,
    async run({ environment, options }) {
      if (!definition.mayCreateFolder) assertStateFolder(environment.MAILPROOF_DIR);
      const { world, close } = createApp(environment, () => "", null);
      try {
        return printResult(await definition.run(world, options));
      } finally {
        close();
      }
    },
  });

/** A mistyped folder must not pass for an empty, sound state. */
export const assertStateFolder = (directory: string): void => {
  if (existsSync(join(directory, "state.sqlite"))) return;
  throw new UsageError(`${resolve(directory)} has no Mailproof state. Set MAILPROOF_DIR.`);
};

/** The operator's commands. They print JSON, for scripts. */
export const adminDefinitions: readonly AdminDefinition<Command["options"], World>[] = [
  ...accountDefinitions,
  ...webhookDefinitions,

  definePortable({
    name: "admin accounts create",
    usage: "--name N [--plan free|pro|scale] [--credits C]",
    mayCreateFolder: true,
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

  definePortable({
    name: "admin keys create",
    usage: "--account A --mode live|test [--scopes s,…] [--name N]",
    options: v.strictObject({
      account: Text,
      mode: v.picklist(KEY_MODES, "must be live or test"),
      scopes: v.optional(Scopes),
      name: v.optional(Text, "Created by an operator"),
    }),
    async run(world, { account, mode, scopes = null, name }) {
      if (!(await findAccount(world.table, account))) throw createNoAccountError(account);
      const { key, secret } = await createKey(world, { account, name, mode, scopes });
      return { output: { key_id: key.id, key: secret } };
    },
  }),

  definePortable({
    name: "admin credits grant",
    usage: "--account A --amount C",
    options: v.strictObject({ account: Text, amount: GrantAmount }),
    async run(world, { account, amount }) {
      const { available } =
        amount > 0
          ? await grantCredits(world, account, amount)
          : await clawBackCredits(world, account, Math.abs(amount) as Halves);
      return { output: { account_id: account, available: toCredits(available) } };
    },
  }),

  definePortable({
    name: "admin activity forget",
    usage: "--email E",
    options: v.strictObject({ email: Email }),
    async run(world, { email }) {
      return {
        output: { email: email.display, records_forgotten: await forgetActivity(world, email) },
      };
    },
  }),

  definePortable({
    name: "admin calibration",
    usage: "[--months M]",
    options: v.strictObject({ months: v.optional(Months, "2") }),
    async run(world, { months }) {
      return { output: formatCalibration(await reportCalibration(world, months)) };
    },
  }),

  definePortable({
    name: "admin providers",
    usage: "",
    options: v.strictObject({}),
    async run(world) {
      return { output: formatProviders(await listCanaryCounts(world.table), world.now()) };
    },
  }),

  definePortable({
    name: "admin audit",
    usage: "[--full]",
    options: v.strictObject({ full: Flag }),
    async run(world, { full }) {
      const output = await audit(world.table, world.now(), { isFull: full });
      return { output, exitCode: output.ok ? 0 : 1 };
    },
  }),
];

export const adminCommands: readonly Command[] = adminDefinitions.map((one) =>
  defineAppCommand(one),
);
