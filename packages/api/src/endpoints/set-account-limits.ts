import { setAccountLimits as setLimits } from "@mailproof/core/accounts/account-limits";
import { Failure } from "@mailproof/core/lib/failure";
import { readSpending } from "@mailproof/core/money/spending";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { createLimitFields, createLimitState, toLimitState, toLimits } from "../schema/limits.ts";

export const setAccountLimits = endpoint({
  id: "setAccountLimits",
  route: "PUT /v1/account/limits",
  tag: "People",
  addition: "The contract knows keys only; an owner limits the account of a client here.",
  summary:
    "Set the limits of the account: credits a month, and the area of people who are not owners.",
  access: "people",
  freshSignIn: true,
  // Not a tool: agents have keys.
  tool: null,
  errors: ["PAYLOAD_TOO_LARGE"],

  body: v.strictObject(
    createLimitFields(
      "Limits people who are not owners to lists or to domains. Keys keep their scopes. Left out: no limit.",
      "The most credits that people and keys of the account may spend in a month (UTC), with those spent before in this month. Left out: no limit.",
    ),
  ),
  output: v.object({
    account_limit: createLimitState("The limits of the account. Left out without any."),
  }),

  async handle(world, caller, { body }) {
    if (caller.person?.role !== "owner")
      throw new Failure("FORBIDDEN", "nothing_charged", "Only an owner sets the account's limits.");
    const limits = toLimits(body);
    await setLimits(world, caller.account, limits);
    const { monthlyHalves, area } = limits;
    const payer = { account: caller.account, monthlyHalves };
    const { all } = await readSpending(world.table, payer, world.now());
    const state = toLimitState(area, all);
    return ok({ ...(state && { account_limit: state }) });
  },
});
