import { DAY_MS, toUtcDay } from "@mailproof/core/lib/time";
import { getOwnerId } from "@mailproof/core/money/payer";
import { PAID_OPERATIONS } from "@mailproof/core/money/reasons";
import {
  listUsage,
  NO_USAGE,
  sumUsage,
  toCreditUsage,
  type UsageSums,
} from "@mailproof/core/money/usage";
import { STATUSES, type Status } from "@mailproof/core/verify/result";
import {
  listVerdictCounts,
  NO_VERDICTS,
  sumVerdictCounts,
  type VerdictCounts,
} from "@mailproof/core/verify/verdict-counts";
import {
  type FormCounts,
  listFormCounts,
  sumFormCounts,
} from "@mailproof/core/verify-one/form-counts";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Count, Day, describe } from "../schema/common.ts";
import * as field from "../schema/fields.ts";

const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;

const USED = {
  credits_used: field.credits(
    "Credits charged, with those that are held for work under way and those refunded later.",
  ),
  credits_refunded: field.credits("Credits refunded."),
};

const USAGE = {
  credits_granted: field.credits("Credits granted."),
  ...USED,
  by_operation: field.objects("The same by operation, without those that moved no credits.", {
    operation: describe(v.picklist(PAID_OPERATIONS), "What the credits paid for."),
    ...USED,
  }),
  verdicts: field.object(
    "Results of verifications, by status. An address in several lists counts in each.",
    Object.fromEntries(
      STATUSES.map((status) => [status, field.count(`Results with the status ${status}.`)]),
    ) as Record<Status, typeof Count>,
  ),
  forms: field.objects("Addresses that visitors typed into forms, by key and page.", {
    key_id: field.text("The id of the key."),
    origin: field.maybeText("The origin of the page. Left out when a back end sent the addresses."),
    go: field.count("Addresses that the form took."),
    ask: field.count("Addresses that the visitor was asked to look at again."),
    no: field.count("Addresses that the form refused."),
    typos: field.count("Those of `ask` with a likely typo."),
  }),
};

export const getUsage = endpoint({
  id: "getUsage",
  route: "GET /v1/account/usage",
  tag: "Account",
  addition: "The contract names the group account without its paths: usage by day is here.",
  summary: "Get the account's credits and verdicts by day (UTC) and by operation.",
  access: "account:read",

  query: v.strictObject({
    from: describe(v.optional(Day), "The first day. By default 29 days before the last."),
    to: describe(v.optional(Day), "The last day. By default today (UTC)."),
  }),
  output: v.object({
    from: field.text("The first day (UTC)."),
    to: field.text("The last day (UTC)."),
    totals: field.object("Sums over all these days.", USAGE),
    days: field.objects(
      "The days on which credits moved, an address was verified or a form was filled in. Everything is counted on the day its request was accepted, even if it ended or was refunded later.",
      { date: field.text("The day (UTC)."), ...USAGE },
    ),
  }),

  async handle(world, caller, { query }) {
    const range = toRange(query, world.now());
    const [usage, verdicts, forms] = await Promise.all([
      caller.mode === "live" ? listUsage(world.table, caller.account, range) : NO_DAYS,
      listVerdictCounts(world.table, getOwnerId(caller), range),
      listFormCounts(world.table, getOwnerId(caller), range),
    ]);
    const days = [
      ...new Set([usage, verdicts, forms].flatMap((all) => [...all.keys()])),
    ].toSorted();
    return ok({
      ...range,
      totals: toUsage(
        sumUsage(usage.values()),
        sumVerdictCounts(verdicts.values()),
        sumFormCounts([...forms.values()].flat()),
      ),
      days: days.map((date) => ({
        date,
        ...toUsage(usage.get(date), verdicts.get(date), forms.get(date)),
      })),
    });
  },
});

const NO_DAYS: ReadonlyMap<string, UsageSums> = new Map();

const toUsage = (
  usage: UsageSums = NO_USAGE,
  verdicts: VerdictCounts = NO_VERDICTS,
  forms: readonly FormCounts[] = [],
) => ({
  ...toCreditUsage(usage),
  verdicts,
  forms: forms.map(({ key, ...counts }) => ({ key_id: key, ...counts })),
});

const toRange = (asked: { from?: string | undefined; to?: string | undefined }, now: Date) => {
  const to = asked.to ?? toUtcDay(now);
  const from = asked.from ?? toUtcDay(new Date(Date.parse(to) - (DAYS_DEFAULT - 1) * DAY_MS));
  if (from > to) throw invalidField("from", `must not be after ${to}`);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days > DAYS_MAX) throw invalidField("from", `must be within ${DAYS_MAX} days of ${to}`);
  return { from, to };
};
