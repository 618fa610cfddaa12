import { DAY_MS, dayOf } from "@mailproof/core/moments";
import { sumOfDays, usageBetween } from "@mailproof/core/money/usage";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Credits, Day, KEYED_ERRORS } from "../schema/common.ts";

const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;

const CREDITS = {
  credits_granted: Credits,
  credits_used: Credits,
  credits_refunded: Credits,
};

export const getUsage = endpoint({
  id: "getUsage",
  route: "GET /v1/account/usage",
  tag: "Account",
  summary: "Show what moved the account's credits, day by day (UTC).",
  price: null,
  access: "account:read",
  needs: ["table:readwrite"],
  tool: { effect: "readOnly" },
  answers: [200],
  errors: KEYED_ERRORS,

  query: v.strictObject({ from: v.optional(Day), to: v.optional(Day) }),
  output: v.object({
    from: v.string(),
    to: v.string(),
    totals: v.object(CREDITS),
    /** Only days on which something moved. */
    days: v.array(v.object({ date: v.string(), ...CREDITS })),
  }),

  async handle(world, caller, { query }) {
    const range = rangeOf(query, world.now());
    const days =
      caller.mode === "live" ? await usageBetween(world.table, caller.account, range) : [];
    return { status: 200, data: { ...range, totals: sumOfDays(days), days } };
  },
});

/** The days asked for; by default the last thirty. */
const rangeOf = (asked: { from?: string | undefined; to?: string | undefined }, now: Date) => {
  const to = asked.to ?? dayOf(now);
  const from = asked.from ?? dayOf(new Date(Date.parse(to) - (DAYS_DEFAULT - 1) * DAY_MS));
  if (from > to) throw invalidField("from", `must not be after ${to}`);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days > DAYS_MAX) throw invalidField("from", `must be within ${DAYS_MAX} days of ${to}`);
  return { from, to };
};
