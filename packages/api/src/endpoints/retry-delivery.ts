import { Failure } from "@mailproof/core/lib/failure";
import { retryDelivery as resendDelivery } from "@mailproof/core/webhooks/delivery-log";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import { DeliverySummary, requireWebhook, toDeliverySummary } from "../schema/webhooks.ts";

export const retryDelivery = endpoint({
  id: "retryDelivery",
  route: "POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry",
  tag: "Webhooks",
  addition: "A receiver that was repaired should not wait for the next event.",
  summary: "Send a delivery again, with the same webhook-id, and retry it for another day.",
  access: "webhooks:write",
  needs: ["table:readwrite", "queue:send"],
  tool: { effect: "additive" },
  answers: [202],
  errors: ["NOT_FOUND", "NOT_READY"],

  path: v.strictObject({
    id: describe(Id, "The webhook's id."),
    delivery_id: describe(Id, "The delivery's id, from the list of deliveries."),
  }),
  output: DeliverySummary,

  async handle(world, caller, { path }) {
    const webhook = await requireWebhook(world, caller, path.id);
    const delivery = await resendDelivery(world, webhook, path.delivery_id);
    if (delivery) return { status: 202, data: toDeliverySummary(delivery) };
    const what = "The webhook has no delivery with this id.";
    throw new Failure("NOT_FOUND", "nothing_charged", what);
  },
});
