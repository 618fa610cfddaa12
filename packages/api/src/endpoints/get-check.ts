import { getOwnerId } from "@mailproof/core/accounts/payer";
import { findStoredCheck } from "@mailproof/core/deliverability/check-once";
import { Failure } from "@mailproof/core/lib/failure";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { Credits, describe, Id, KEYED_ERRORS } from "../schema/common.ts";
import { CheckResult } from "../schema/deliverability-check.ts";
import { toCheckResult } from "../schema/to-check-result.ts";

export const getCheck = endpoint({
  id: "getCheck",
  route: "GET /v1/deliverability/checks/{id}",
  tag: "Deliverability",
  summary: "Get a deliverability check.",
  price: null,
  access: "deliverability:read",
  needs: ["table:readwrite"],
  tool: { effect: "readOnly" },
  answers: [200],
  errors: [...KEYED_ERRORS, "NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The check's id (`check_id`).") }),
  output: v.object({
    ...CheckResult.entries,
    credits_used: describe(Credits, "Always 0: reading a check is free."),
    cached: describe(v.boolean(), "Always false."),
  }),

  async handle(world, caller, { path: { id } }) {
    const stored = await findStoredCheck(world, id);
    // Another account's check gives the same failure as a missing one.
    if (stored?.check.owner !== getOwnerId(caller))
      throw new Failure("NOT_FOUND", "nothing_charged", "No such check.");
    return { status: 200, data: { ...toCheckResult(stored), credits_used: 0, cached: false } };
  },
});
