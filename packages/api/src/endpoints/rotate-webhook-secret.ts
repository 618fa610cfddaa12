import { rotateSecret } from "@mailproof/core/webhooks/webhooks";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import {
  noSuchWebhook,
  requireWebhook,
  toWebhookSummary,
  WebhookSummary,
} from "../schema/webhooks.ts";

export const rotateWebhookSecret = endpoint({
  id: "rotateWebhookSecret",
  route: "POST /v1/webhooks/{id}/secret",
  tag: "Webhooks",
  summary:
    "Replace the signing secret. The new one is shown only in this response; the old one stops working immediately.",
  access: "webhooks:write",
  freshSignIn: true,
  needs: ["table:readwrite", "seal"],
  tool: { effect: "destructive" },
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The webhook's id.") }),
  output: v.object({
    ...WebhookSummary.entries,
    secret: field.text("The new secret that signs events. It is shown only in this response."),
  }),

  async handle(world, caller, { path }) {
    const rotated = await rotateSecret(world, await requireWebhook(world, caller, path.id));
    if (!rotated) throw noSuchWebhook();
    const { webhook, secret } = rotated;
    return ok({ ...toWebhookSummary(webhook), secret });
  },
});
