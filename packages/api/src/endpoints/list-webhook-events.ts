import { WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";

export const listWebhookEvents = endpoint({
  id: "listWebhookEvents",
  route: "GET /v1/webhooks/events",
  tag: "Webhooks",
  summary: "List the names of all events.",
  access: "webhooks:read",

  output: v.object({ events: describe(v.array(v.string()), "The names of all events.") }),

  async handle() {
    return ok({ events: [...WEBHOOK_EVENT_TYPES] });
  },
});
