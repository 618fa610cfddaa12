import { DAY_MS, toUtcDay } from "@mailproof/core/lib/time";
import { listUsage, sumUsage } from "@mailproof/core/money/usage";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Credits, Day, describe, KEYED_ERRORS } from "../schema/common.ts";

const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;

const CREDITS = {
  credits_granted: describe(Credits, "Credits granted."),
  credits_used: describe(Credits, "Credits used."),
  credits_refunded: describe(Credits, "Credits refunded."),
};

export const getUsage = endpoint({
  id: "getUsage",
  route: "GET /v1/account/usage",
  tag: "Account",
  summary: "Get the account's credit usage by day (UTC).",
  price: null,
  access: "account:read",
  needs: ["table:readwrite"],
  tool: { effect: "readOnly" },
  answers: [200],
  errors: KEYED_ERRORS,

  query: v.strictObject({
    from: describe(v.optional(Day), "The first day. By default 29 days before the last."),
    to: describe(v.optional(Day), "The last day. By default today (UTC)."),
  }),
  output: v.object({
    from: describe(v.string(), "The first day (UTC)."),
    to: describe(v.string(), "The last day (UTC)."),
    totals: describe(v.object(CREDITS), "Sums over all these days."),
    days: describe(
      v.array(v.object({ date: describe(v.string(), "The day (UTC)."), ...CREDITS })),
      "The days on which the balance changed.",
    ),
  }),

  async handle(world, caller, { query }) {
    const range = toRange(query, world.now());
    const days = caller.mode === "live" ? await listUsage(world.table, caller.account, range) : [];
    return { status: 200, data: { ...range, totals: sumUsage(days), days } };
  },
});

/** The days asked for; by default the last thirty. */
const toRange = (asked: { from?: string | undefined; to?: string | undefined }, now: Date) => {
  const to = asked.to ?? toUtcDay(now);
  const from = asked.from ?? toUtcDay(new Date(Date.parse(to) - (DAYS_DEFAULT - 1) * DAY_MS));
  if (from > to) throw invalidField("from", `must not be after ${to}`);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days > DAYS_MAX) throw invalidField("from", `must be within ${DAYS_MAX} days of ${to}`);
  return { from, to };
};
