import { listChecks as readChecks } from "@mailproof/core/deliverability/history";
import { getOwnerId } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";
import { CheckSummary } from "../schema/deliverability-check.ts";
import * as field from "../schema/fields.ts";
import { createLimit } from "../schema/paging.ts";
import { DomainName } from "../schema/sender.ts";
import { toCheckSummary } from "../schema/to-check-result.ts";

export const listChecks = endpoint({
  id: "listChecks",
  route: "GET /v1/deliverability/checks",
  tag: "Deliverability",
  summary: "List the deliverability checks, newest first.",
  access: "deliverability:read",

  query: v.strictObject({
    domain: describe(v.optional(DomainName), "Only checks of this domain."),
    limit: createLimit("checks", { default: 20, most: 100 }),
  }),
  output: v.object({
    checks: describe(v.array(CheckSummary), "The checks, newest first."),
    count: field.count("Number of checks in this response."),
    total: field.count("Number of all checks, or of those of the domain."),
    truncated: field.boolean("True when only a part of the history was read."),
  }),

  async handle(world, caller, { query }) {
    const { checks, total, isTruncated } = await readChecks(world.table, getOwnerId(caller), query);
    return ok({
      checks: checks.map(toCheckSummary),
      count: checks.length,
      total,
      truncated: isTruncated,
    });
  },
});
