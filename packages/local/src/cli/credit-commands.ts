import { IDEMPOTENCY_KEY } from "@mailproof/api/http/idempotency";
import {
  clawBackCredits,
  getExistingAccount,
  grantCredits,
} from "@mailproof/core/accounts/accounts";
import { type Halves, toCredits } from "@mailproof/core/money/credits";
import type { LedgerEntry } from "@mailproof/core/money/items";
import { listEntries } from "@mailproof/core/money/list-entries";
import { type MovedAmounts, toBalanceChanges } from "@mailproof/core/money/moves";
import * as v from "valibot";
import { matching } from "../environment.ts";
import { GrantAmount, Limit } from "./amounts.ts";
import { definePortable, Name } from "./define-admin.ts";

const EntryId = matching(/^\d{4}-\d{2}-\d{2}T\S{1,200}$/, "must be an entry_id of this list");

/** The format of the API's Idempotency-Key header. */
const RepeatKey = matching(
  IDEMPOTENCY_KEY,
  "must be 1 to 255 printable ASCII characters without spaces",
);

const formatEntry = (entry: LedgerEntry & { readonly id: string }) => ({
  entry_id: entry.id,
  at: entry.at,
  operation_id: entry.operation,
  step: entry.step,
  reason: entry.reason,
  moved: toCreditAmounts(entry.moved),
  available_change: toCredits((toBalanceChanges(entry.moved)["available"] ?? 0) as Halves),
});

const toCreditAmounts = (moved: MovedAmounts): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(moved).map(([kind, amount]) => [kind, toCredits(amount)]));

export const creditDefinitions = {
  "admin credits list": definePortable({
    usage: "--account A [--limit N] [--after ENTRY]",
    options: v.strictObject({
      account: Name,
      limit: v.optional(Limit, "50"),
      after: v.optional(EntryId),
    }),
    async run({ table, now }, { account: id, limit, after }) {
      const { account, createdAt: since } = await getExistingAccount(table, id);
      const page = await listEntries(table, now(), { account, since, limit, after });
      return {
        output: { entries: page.entries.map(formatEntry), next: page.next ?? null },
      };
    },
  }),

  "admin credits grant": definePortable({
    usage: "--account A --amount C [--idempotency-key K]",
    options: v.strictObject({
      account: Name,
      amount: GrantAmount,
      "idempotency-key": v.optional(RepeatKey),
    }),
    async run(world, { account, amount, "idempotency-key": key }) {
      const { available } =
        amount > 0
          ? await grantCredits(world, account, amount, key)
          : await clawBackCredits(world, account, Math.abs(amount) as Halves, key);
      return { output: { account_id: account, available: toCredits(available) } };
    },
  }),
};
