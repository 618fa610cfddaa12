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
import { endpoint } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Count, Credits, Day, describe, KEYED_ERRORS } from "../schema/common.ts";

const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;

const USED = {
  credits_used: describe(
    Credits,
    "Credits charged, with those that are held for work under way and those refunded later.",
  ),
  credits_refunded: describe(Credits, "Credits refunded."),
};

const USAGE = {
  credits_granted: describe(Credits, "Credits granted."),
  ...USED,
  by_operation: describe(
    v.array(
      v.object({
        operation: describe(v.picklist(PAID_OPERATIONS), "What the credits paid for."),
        ...USED,
      }),
    ),
    "The same by operation, without those that moved no credits.",
  ),
  verdicts: describe(
    v.object(
      Object.fromEntries(
        STATUSES.map((status) => [status, describe(Count, `Results with the status ${status}.`)]),
      ) as Record<Status, typeof Count>,
    ),
    "Results of verifications, by status. An address in several lists counts in each.",
  ),
  forms: describe(
    v.array(
      v.object({
        key_id: describe(v.string(), "The id of the key."),
        origin: describe(
          v.optional(v.string()),
          "The origin of the page. Left out when a back end sent the addresses.",
        ),
        go: describe(Count, "Addresses that the form took."),
        ask: describe(Count, "Addresses that the visitor was asked to look at again."),
        no: describe(Count, "Addresses that the form refused."),
        typos: describe(Count, "Those of `ask` with a likely typo."),
      }),
    ),
    "Addresses that visitors typed into forms, by key and page.",
  ),
};

export const getUsage = endpoint({
  id: "getUsage",
  route: "GET /v1/account/usage",
  tag: "Account",
  addition: "The contract names the group account without its paths: usage by day is here.",
  summary: "Get the account's credits and verdicts by day (UTC) and by operation.",
  price: null,
  access: "account:read",
  needs: ["table:readwrite"],
  tool: { effect: "readOnly" },
  errors: KEYED_ERRORS,

  query: v.strictObject({
    from: describe(v.optional(Day), "The first day. By default 29 days before the last."),
    to: describe(v.optional(Day), "The last day. By default today (UTC)."),
  }),
  output: v.object({
    from: describe(v.string(), "The first day (UTC)."),
    to: describe(v.string(), "The last day (UTC)."),
    totals: describe(v.object(USAGE), "Sums over all these days."),
    days: describe(
      v.array(v.object({ date: describe(v.string(), "The day (UTC)."), ...USAGE })),
      "The days on which credits moved, an address was verified or a form was filled in. Everything is counted on the day its request was accepted, even if it ended or was refunded later.",
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
    return {
      status: 200,
      data: {
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
      },
    };
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
