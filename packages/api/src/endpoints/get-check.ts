import { findStoredCheck } from "@mailproof/core/deliverability/check-once";
import { flattenSpf } from "@mailproof/core/deliverability/flatten";
import { Failure } from "@mailproof/core/lib/failure";
import { getOwnerId } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { describe, Id } from "../schema/common.ts";
import { CheckResult } from "../schema/deliverability-check.ts";
import * as field from "../schema/fields.ts";
import { FlattenedSpf } from "../schema/proposed-records.ts";
import { DomainNames } from "../schema/sender.ts";
import { toCheckResult, toFlattenedSpf } from "../schema/to-check-result.ts";

export const getCheck = endpoint({
  id: "getCheck",
  route: "GET /v1/deliverability/checks/{id}",
  tag: "Deliverability",
  summary: "Get a deliverability check.",
  access: "deliverability:read",
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The check's id (`check_id`).") }),
  query: v.strictObject({
    flatten: describe(
      v.optional(DomainNames),
      "Domains that the SPF record includes, with commas between them: `flattened_spf` has the record with their address blocks instead. When one of these services changes its addresses, your record has to follow, or its mail fails SPF.",
    ),
  }),
  output: v.object({
    ...CheckResult.entries,
    flattened_spf: describe(
      v.optional(FlattenedSpf),
      "The SPF record with address blocks instead of the includes that `flatten` names. Left out without `flatten`.",
    ),
    credits_used: field.credits("Always 0: reading a check is free."),
    cached: field.boolean("Always false."),
  }),

  async handle(world, caller, { path: { id }, query: { flatten } }) {
    const stored = await findStoredCheck(world, id);
    // A check of another account causes the same failure as a missing check.
    if (stored?.check.owner !== getOwnerId(caller))
      throw new Failure("NOT_FOUND", "nothing_charged", "No such check.");
    const flattened = flatten && (await flattenSpf(stored.report, flatten));
    if (flattened?.kind === "fault")
      throw invalidField("flatten", `${flattened.include}: ${flattened.fault}`);
    const data = { ...toCheckResult(stored), credits_used: 0, cached: false };
    return ok({ ...data, ...(flattened && { flattened_spf: toFlattenedSpf(flattened) }) });
  },
});
