import { findActivity } from "@mailproof/core/activity/find-activity";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { ActivityRecord, Email, toRecord } from "../schema/activity.ts";
import { createList, describe } from "../schema/common.ts";
import * as field from "../schema/fields.ts";

const EMAILS_MAX = 100;

export const getActivityBatch = endpoint({
  id: "getActivityBatch",
  route: "POST /v1/activity/batch",
  tag: "Activity",
  summary: "Get the opens and clicks of up to 100 addresses, in the order of the request.",
  access: "activity:read",
  tool: { effect: "readOnly" },
  repeat: "always",
  errors: ["PAYLOAD_TOO_LARGE"],

  body: v.strictObject({
    emails: describe(
      v.pipe(createList(Email, EMAILS_MAX), v.minLength(1, "must have at least one entry")),
      "The addresses, up to 100.",
    ),
  }),
  output: v.object({
    results: describe(
      v.array(ActivityRecord),
      "A record for each address, in the order of the request.",
    ),
    total: field.count("Number of records."),
  }),

  async handle(world, caller, { body }) {
    const results = await Promise.all(
      body.emails.map(async (email) => toRecord(email, await findActivity(world, caller, email))),
    );
    return ok({ results, total: results.length });
  },
});
