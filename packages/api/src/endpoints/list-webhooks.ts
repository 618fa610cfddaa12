import { getOwnerId } from "@mailproof/core/money/payer";
import { listWebhooks as webhooksListed } from "@mailproof/core/webhooks/items";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";
import { toWebhookSummary, WebhookSummary } from "../schema/webhooks.ts";

export const listWebhooks = endpoint({
  id: "listWebhooks",
  route: "GET /v1/webhooks",
  tag: "Webhooks",
  summary: "List the webhooks, oldest first. Their secrets are not shown.",
  access: "webhooks:read",

  output: v.object({ webhooks: describe(v.array(WebhookSummary), "The webhooks, oldest first.") }),

  async handle(world, caller) {
    const webhooks = await webhooksListed(world.table, getOwnerId(caller));
    return ok({ webhooks: webhooks.map(toWebhookSummary) });
  },
});
