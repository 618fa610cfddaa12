import { EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import * as v from "valibot";
import { endpoint } from "../endpoint.ts";
import { KEYED_ERRORS } from "../schemas.ts";

export const getWebhooksEvents = endpoint({
  route: "GET /v1/webhooks/events",
  summary: "List the names of all events.",
  price: null,
  access: "webhooks:read",
  needs: ["table:readwrite"],
  answers: [200],
  errors: KEYED_ERRORS,

  output: v.object({ events: v.array(v.string()) }),

  async handle() {
    return { status: 200, data: { events: [...EVENT_TYPES] } };
  },
});
