import { ownerOf } from "@mailproof/core/access/payer";
import { storedCheck } from "@mailproof/core/deliverability/check";
import { Failure } from "@mailproof/core/failure";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { Credits, Id, KEYED_ERRORS } from "../schema/common.ts";
import { CheckResult, toCheckResult } from "../schema/deliverability-check.ts";

export const getCheck = endpoint({
  id: "getCheck",
  route: "GET /v1/deliverability/checks/{id}",
  tag: "Deliverability",
  summary: "Read one deliverability check.",
  price: null,
  access: "deliverability:read",
  needs: ["table:readwrite"],
  tool: { effect: "readOnly" },
  answers: [200],
  errors: [...KEYED_ERRORS, "NOT_FOUND"],

  path: v.strictObject({ id: Id }),
  output: v.object({
    ...CheckResult.entries,
    /** Reading costs nothing, whatever the check cost. */
    credits_used: Credits,
    cached: v.boolean(),
  }),

  async handle(world, caller, { path: { id } }) {
    const stored = await storedCheck(world, id);
    // Another's is missing in just the same words.
    if (stored?.check.owner !== ownerOf(caller))
      throw new Failure("NOT_FOUND", "nothing_charged", "There is no such check.");
    return { status: 200, data: { ...toCheckResult(stored), credits_used: 0, cached: false } };
  },
});
