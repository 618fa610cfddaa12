import { WEBHOOK_STATUSES } from "@mailproof/core/webhooks/items";
import { updateWebhook as changeWebhook } from "@mailproof/core/webhooks/webhooks";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { assertFresh } from "../http/session.ts";
import { describe, Id, optional } from "../schema/common.ts";
import { assertMayCall, OutgoingUrl } from "../schema/outgoing-url.ts";
import {
  EventNames,
  noSuchWebhook,
  requireWebhook,
  toWebhookSummary,
  WebhookSummary,
} from "../schema/webhooks.ts";

export const updateWebhook = endpoint({
  id: "updateWebhook",
  route: "PUT /v1/webhooks/{id}",
  tag: "Webhooks",
  summary:
    "Update a webhook's address or events, or disable or enable it. Fields left out are unchanged.",
  access: "webhooks:write",
  needs: ["table:readwrite", "https"],
  tool: { effect: "destructive" },
  errors: ["NOT_FOUND", "PAYLOAD_TOO_LARGE"],

  path: v.strictObject({ id: describe(Id, "The webhook's id.") }),
  body: v.strictObject({
    url: describe(optional(OutgoingUrl), "The HTTPS address to send events to."),
    events: describe(optional(EventNames), "The events to send."),
    status: describe(
      optional(v.picklist(WEBHOOK_STATUSES, `must be one of ${WEBHOOK_STATUSES.join(", ")}`)),
      "`disabled` stops sending until it is set to `active` again.",
    ),
  }),
  output: WebhookSummary,

  async handle(world, caller, { path, body }) {
    if (Object.values(body).every((value) => value === undefined))
      throw invalidField("body", "must have url, events or status");
    // A new URL gets every event, as a new webhook would.
    if (body.url !== undefined) assertFresh(caller.person);
    const webhook = await requireWebhook(world, caller, path.id);
    if (body.url !== undefined) await assertMayCall(world, "url", body.url);
    const changed = await changeWebhook(world, webhook, body);
    if (!changed) throw noSuchWebhook();
    return ok(toWebhookSummary(changed));
  },
});
