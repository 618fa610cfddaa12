import { listDeliveries as readDeliveries } from "@mailproof/core/webhooks/delivery-log";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import { DeliverySummary, requireWebhook, toDeliverySummary } from "../schema/webhooks.ts";

export const listDeliveries = endpoint({
  id: "listDeliveries",
  route: "GET /v1/webhooks/{id}/deliveries",
  tag: "Webhooks",
  addition: "The contract has webhooks, but nothing shows what their receivers responded.",
  summary: "List the last 100 deliveries to a webhook, newest first. They are stored for 30 days.",
  access: "webhooks:read",
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The webhook's id.") }),
  output: v.object({
    deliveries: describe(v.array(DeliverySummary), "The deliveries, newest first."),
  }),

  async handle(world, caller, { path }) {
    const { id } = await requireWebhook(world, caller, path.id);
    const deliveries = await readDeliveries(world.table, id);
    return ok({ deliveries: deliveries.map(toDeliverySummary) });
  },
});
