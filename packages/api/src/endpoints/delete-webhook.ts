import { deleteWebhook as removeWebhook } from "@mailproof/core/webhooks/webhooks";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { describe, Id, KEYED_ERRORS } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { noSuchWebhook, requireWebhook } from "../schema/webhooks.ts";

export const deleteWebhook = endpoint({
  id: "deleteWebhook",
  route: "DELETE /v1/webhooks/{id}",
  tag: "Webhooks",
  summary: "Delete a webhook. Its pending deliveries are dropped.",
  price: null,
  access: "webhooks:write",
  needs: ["table:readwrite"],
  tool: { effect: "destructive" },
  errors: [...KEYED_ERRORS, "NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The webhook's id.") }),
  output: v.object({
    id: field.text("The webhook's id."),
    deleted: describe(v.literal(true), "Always true."),
  }),

  async handle(world, caller, { path }) {
    const webhook = await requireWebhook(world, caller, path.id);
    if (!(await removeWebhook(world, webhook))) throw noSuchWebhook();
    return { status: 200, data: { id: webhook.id, deleted: true as const } };
  },
});
