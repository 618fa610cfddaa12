import { getAccount } from "@mailproof/core/accounts/accounts";
import { toCheckId } from "@mailproof/core/deliverability/check-once";
import { type Halves, toCredits } from "@mailproof/core/money/credits";
import { toMovementId } from "@mailproof/core/money/items";
import {
  listMovements,
  type Movement,
  type MovementPosition,
} from "@mailproof/core/money/list-entries";
import { MOVE_KINDS, toBalanceChanges } from "@mailproof/core/money/moves";
import { getOwnerId } from "@mailproof/core/money/payer";
import {
  findOtherReason,
  isRefundReason,
  OTHER_REASONS,
  PAID_OPERATIONS,
} from "@mailproof/core/money/reasons";
import { findPayingPerson } from "@mailproof/core/money/spending";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Day, describe } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { createLimit, Offset, PAGE_END, readOffset, toPageEnd } from "../schema/paging.ts";

const LIMIT = { default: 50, most: 200 };

const LedgerEntry = v.object({
  entry_id: field.text("The entry's id."),
  type: describe(
    v.picklist(MOVE_KINDS),
    "`grant`: new credits. `clawback`: unspent credits taken back by the operator of this service. `charge`: paid immediately. `hold`: set aside until the outcome is known. `settle`: held credits are paid. `release`: held credits return. `refund`: paid credits return.",
  ),
  credits: field.credits("How many credits moved, as a positive number."),
  balance_change: field.credits(
    "The change of the available credits. The sum over all entries is the balance.",
  ),
  held_change: field.credits(
    "The change of the held credits. The sum over all entries is what is held now.",
  ),
  operation: describe(
    v.optional(v.picklist(PAID_OPERATIONS)),
    "What the credits pay for. Left out for grants and clawbacks.",
  ),
  operation_id: field.text(
    "The id that the entries of one operation share. For a verification that continued as a job it is the job's id.",
  ),
  job_id: field.maybeText("The job of the batch or the file. Left out otherwise."),
  check_id: field.maybeText("The deliverability check. Left out otherwise."),
  test_id: field.maybeText("The mail test. Left out otherwise."),
  person_id: field.maybeText("The person who caused the charge. Left out when a key did."),
  reason: describe(
    v.optional(v.picklist(OTHER_REASONS)),
    "Why credits moved without a request, or returned: `opening`: the account was opened. `granted`, `taken_back`: by the operator. `failed`: addresses, or a mail test, failed on our side. `not_probed`: their mail server was not asked. `not_reached`: our own address, exit or circuit kept us from it. `cancelled`: the job was cancelled. `no_mail`: the address of a mail test got no mail. Left out otherwise.",
  ),
  began_at: field.text(
    "When the operation started, ISO 8601. Entries are listed in this order, and usage counts them on this day.",
  ),
  created_at: field.text("When the entry was written, ISO 8601."),
});

const toLedgerEntry = ({ entry, kind, amount }: Movement): v.InferOutput<typeof LedgerEntry> => {
  const { operation: id, paidFor: operation, reason: stored, step } = entry;
  const reason = findOtherReason(stored);
  const person = findPayingPerson(entry);
  const { available = 0, held = 0 } = toBalanceChanges({ [kind]: amount });
  const isOfTest = operation === "mail_test";
  const isOfJob =
    operation === "verify_batch" ||
    operation === "verify_file" ||
    (isRefundReason(stored) && !isOfTest && !(operation === "verify" && step === "end"));
  const isOfCheck = operation === "deliverability_check" || operation === "monitor";
  return {
    entry_id: toMovementId(id, step, kind),
    type: kind,
    credits: toCredits(amount),
    balance_change: toCredits(available as Halves),
    held_change: toCredits(held as Halves),
    ...(operation && { operation }),
    operation_id: id,
    ...(isOfJob && { job_id: id }),
    ...(isOfCheck && { check_id: toCheckId({ id }) }),
    ...(isOfTest && { test_id: id }),
    ...(person && { person_id: person }),
    ...(reason && { reason }),
    began_at: entry.openedAt,
    created_at: entry.at,
  };
};

export const listLedgerEntries = endpoint({
  id: "listLedgerEntries",
  route: "GET /v1/account/ledger",
  tag: "Account",
  addition: "Has every movement behind the usage, for accounting.",
  summary: "List every movement of the account's credits, newest first.",
  access: "account:read",
  needs: ["table:readwrite", "cursor"],

  query: v.strictObject({
    from: describe(v.optional(Day), "The first day (UTC). By default the account's first."),
    to: describe(v.optional(Day), "The last day (UTC). By default today."),
    limit: createLimit("entries", LIMIT),
    offset: Offset,
  }),
  output: v.object({
    entries: describe(
      v.array(LedgerEntry),
      "The entries, newest first. Test keys move no credits and have none.",
    ),
    ...PAGE_END,
  }),

  async handle(world, caller, { query }) {
    const { from, to, limit, offset } = query;
    if (from !== undefined && to !== undefined && from > to)
      throw invalidField("from", `must not be after ${to}`);
    const bound = `ledger ${getOwnerId(caller)} ${from ?? "all"} ${to ?? "all"}`;
    const position = readOffset<MovementPosition>(world, bound, offset);
    if (caller.mode === "test") return ok({ entries: [], has_more: false });
    const { account, createdAt: since } = await getAccount(world.table, caller.account);
    const { movements, next } = await listMovements(world.table, world.now(), {
      account,
      since,
      from,
      to,
      limit,
      position,
    });
    return ok({
      entries: movements.map(toLedgerEntry),
      ...toPageEnd(world, bound, next),
    });
  },
});
