import { Failure } from "@mailproof/core/lib/failure";
import { replayFailed } from "@mailproof/core/webhooks/delivery-log";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { requireWebhook } from "../schema/webhooks.ts";

export const replayDeliveries = endpoint({
  id: "replayDeliveries",
  route: "POST /v1/webhooks/{id}/replay",
  tag: "Webhooks",
  addition: "After an outage one call resends every failed delivery.",
  summary: "Resend all deliveries that failed since a time.",
  access: "webhooks:write",
  needs: ["table:readwrite", "queue:send"],
  tool: { effect: "additive" },
  // A delivery that is sent again is no longer failed, so a repeat sends nothing twice.
  repeat: "always",
  answers: [202],
  errors: ["NOT_FOUND", "NOT_READY"],

  path: v.strictObject({ id: describe(Id, "The webhook's id.") }),
  query: v.strictObject({
    since: describe(
      v.pipe(
        v.string(),
        v.isoTimestamp("must be a time such as 2026-11-21T00:00:00Z"),
        v.transform((text) => new Date(text).toISOString()),
      ),
      "Deliveries created at this time or later, ISO 8601.",
    ),
  }),
  output: v.object({
    replayed: field.count("Number of deliveries that are sent again, about 200 at most."),
    next_since: field.textOrNull(
      "Where the request stopped, ISO 8601: pass it as `since` to continue. Null when everything is done.",
    ),
  }),

  async handle(world, caller, { path, query: { since } }) {
    const webhook = await requireWebhook(world, caller, path.id);
    if (webhook.status === "disabled")
      throw new Failure(
        "NOT_READY",
        "nothing_charged",
        "The webhook is disabled; enable it first.",
      );
    const { replayed, next } = await replayFailed(world, webhook, since);
    return { status: 202, data: { replayed, next_since: next ?? null } };
  },
});
