import { getOwnerId } from "@mailproof/core/money/payer";
import { createWebhook as addWebhook } from "@mailproof/core/webhooks/webhooks";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { assertMayCall, OutgoingUrl } from "../schema/outgoing-url.ts";
import { EventNames, toWebhookSummary, WebhookSummary } from "../schema/webhooks.ts";

export const createWebhook = endpoint({
  id: "createWebhook",
  route: "POST /v1/webhooks",
  tag: "Webhooks",
  summary:
    "Send events to an HTTPS address. The secret that signs them is shown only in this response.",
  access: "webhooks:write",
  freshSignIn: true,
  needs: ["table:readwrite", "https", "seal"],
  tool: { effect: "additive" },
  answers: [201],
  errors: ["LIMIT_REACHED", "PAYLOAD_TOO_LARGE"],

  body: v.strictObject({
    url: describe(OutgoingUrl, "The HTTPS address to send events to."),
    events: describe(EventNames, "The events to send."),
  }),
  output: v.object({
    ...WebhookSummary.entries,
    secret: field.text("The secret that signs events. It is shown only in this response."),
  }),

  async handle(world, caller, { body: { url, events } }) {
    await assertMayCall(world, "url", url);
    const { webhook, secret } = await addWebhook(world, { owner: getOwnerId(caller), url, events });
    return { status: 201, data: { ...toWebhookSummary(webhook), secret } };
  },
});
