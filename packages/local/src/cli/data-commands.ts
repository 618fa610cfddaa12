import { toErasedFields } from "@mailproof/api/endpoints/erase-data";
import { EMAIL_LENGTH_MAX } from "@mailproof/api/schema/common";
import { getAccount } from "@mailproof/core/accounts/accounts";
import { getRetentionDays, setRetention } from "@mailproof/core/accounts/retention";
import { forgetActivity } from "@mailproof/core/activity/forget";
import { eraseEverywhere } from "@mailproof/core/erasure/erase-everywhere";
import { type Address, isAddress } from "@mailproof/mail/address";
import { parseAddressCell } from "@mailproof/mail/address-cell";
import * as v from "valibot";
import { matching } from "../environment.ts";
import { definePortable, Name } from "./define-admin.ts";

const Email = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, "must not be empty"),
  v.maxLength(EMAIL_LENGTH_MAX, `must have at most ${EMAIL_LENGTH_MAX} characters`),
);

const Days = v.pipe(
  matching(/^(?:plan|[1-9]\d?|100)$/, "must be a number of days from 1 to 100, or plan"),
  v.transform((text) => (text === "plan" ? undefined : Number(text))),
);

const ParsedEmail = v.pipe(
  v.string(),
  v.transform(parseAddressCell),
  v.custom<Address>((parsed) => isAddress(parsed as Address), "must be an email address"),
);

export const dataDefinitions = {
  "admin erase": definePortable({
    usage: "--email E",
    options: v.strictObject({ email: Email }),
    async run(world, { email }) {
      const { isComplete, accounts, openJobs, erased } = await eraseEverywhere(world, email);
      return {
        output: {
          complete: isComplete,
          accounts,
          open_jobs: openJobs,
          erased: toErasedFields(erased),
        },
        exitCode: isComplete ? 0 : 1,
      };
    },
  }),

  "admin accounts retention": definePortable({
    usage: "--account A --days N|plan",
    options: v.strictObject({ account: Name, days: Days }),
    async run({ table }, { account, days }) {
      await setRetention(table, account, days);
      const found = await getAccount(table, account);
      return { output: { account_id: account, retention_days: getRetentionDays(found) } };
    },
  }),

  "admin activity forget": definePortable({
    usage: "--email E",
    options: v.strictObject({ email: ParsedEmail }),
    async run(world, { email }) {
      return {
        output: { email: email.display, records_forgotten: await forgetActivity(world, email) },
      };
    },
  }),
};
