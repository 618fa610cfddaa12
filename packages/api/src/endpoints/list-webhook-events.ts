import { WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { describe, KEYED_ERRORS } from "../schema/common.ts";

export const listWebhookEvents = endpoint({
  id: "listWebhookEvents",
  route: "GET /v1/webhooks/events",
  tag: "Webhooks",
  summary: "List the names of all events.",
  price: null,
  access: "webhooks:read",
  needs: ["table:readwrite"],
  tool: { effect: "readOnly" },
  errors: KEYED_ERRORS,

  output: v.object({ events: describe(v.array(v.string()), "The names of all events.") }),

  async handle() {
    return { status: 200, data: { events: [...WEBHOOK_EVENT_TYPES] } };
  },
});
