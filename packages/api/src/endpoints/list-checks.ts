import { ownerOf } from "@mailproof/core/access/payer";
import { listChecks as readChecks } from "@mailproof/core/deliverability/history";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { Count, KEYED_ERRORS, limitUpTo } from "../schema/common.ts";
import { CheckFacts, toFacts } from "../schema/deliverability-check.ts";

export const listChecks = endpoint({
  id: "listChecks",
  route: "GET /v1/deliverability/checks",
  tag: "Deliverability",
  summary: "List the deliverability checks, newest first.",
  price: null,
  access: "deliverability:read",
  needs: ["table:readwrite"],
  tool: { effect: "readOnly" },
  answers: [200],
  errors: KEYED_ERRORS,

  query: v.strictObject({ limit: limitUpTo({ default: 20, most: 100 }) }),
  output: v.object({
    checks: v.array(CheckFacts),
    count: Count,
    total: Count,
    truncated: v.boolean(),
  }),

  async handle(world, caller, { query: { limit } }) {
    const { checks, total, isTruncated } = await readChecks(world.table, ownerOf(caller), limit);
    return {
      status: 200,
      data: {
        checks: checks.map(toFacts),
        count: checks.length,
        total,
        truncated: isTruncated,
      },
    };
  },
});
