import { sendTestEvent } from "@mailproof/core/webhooks/delivery-log";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import {
  DeliverySummary,
  EventName,
  requireWebhook,
  toDeliverySummary,
} from "../schema/webhooks.ts";

export const testWebhook = endpoint({
  id: "testWebhook",
  route: "POST /v1/webhooks/{id}/test",
  tag: "Webhooks",
  summary:
    "Send webhook.test, or a sample of any event, once, signed like any other, and return its delivery.",
  access: "webhooks:write",
  needs: ["table:readwrite", "https", "seal"],
  tool: { effect: "additive" },
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The webhook's id.") }),
  query: v.strictObject({
    event: describe(
      v.optional(EventName),
      "Sends a sample of this event instead of `webhook.test`.",
    ),
  }),
  output: v.object({
    delivered: field.boolean("True when the address responded with 2xx."),
    delivery: describe(DeliverySummary, "The delivery of the test event."),
  }),

  async handle(world, caller, { path, query: { event } }) {
    const webhook = await requireWebhook(world, caller, path.id);
    const delivery = await sendTestEvent(world, webhook, event);
    const delivered = delivery.status === "delivered";
    return ok({ delivered, delivery: toDeliverySummary(delivery) });
  },
});
