import { deleteWebhook as removeWebhook } from "@mailproof/core/webhooks/webhooks";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { noSuchWebhook, requireWebhook } from "../schema/webhooks.ts";

export const deleteWebhook = endpoint({
  id: "deleteWebhook",
  route: "DELETE /v1/webhooks/{id}",
  tag: "Webhooks",
  summary: "Delete a webhook. Its pending deliveries are dropped.",
  access: "webhooks:write",
  tool: { effect: "destructive" },
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The webhook's id.") }),
  output: v.object({
    id: field.text("The webhook's id."),
    deleted: describe(v.literal(true), "Always true."),
  }),

  async handle(world, caller, { path }) {
    const webhook = await requireWebhook(world, caller, path.id);
    if (!(await removeWebhook(world, webhook))) throw noSuchWebhook();
    return ok({ id: webhook.id, deleted: true as const });
  },
});
