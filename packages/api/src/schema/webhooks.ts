import { Failure } from "@mailproof/core/lib/failure";
import { getOwnerId } from "@mailproof/core/money/payer";
import type { World } from "@mailproof/core/ports/world";
import { DELIVERY_STATUSES, type Delivery, type Webhook } from "@mailproof/core/webhooks/items";
import { WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { findWebhook } from "@mailproof/core/webhooks/webhooks";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { Count, createList, describe, Integer } from "./common.ts";
import * as field from "./fields.ts";

export const EventName = v.picklist(
  WEBHOOK_EVENT_TYPES,
  `must be one of ${WEBHOOK_EVENT_TYPES.join(", ")}`,
);

export const EventNames = v.pipe(
  createList(EventName, 100),
  v.minLength(1, "must name at least one event"),
  v.transform((names) => [...new Set(names)]),
);

const DisabledBecause = describe(
  v.picklist(["asked", "failing", "gone"]),
  "asked: disabled by the account. failing: nothing was delivered for five days. gone: the address responded with 410.",
);

export const WebhookSummary = v.object({
  id: field.text("The webhook's id."),
  url: field.text("The HTTPS address that events are sent to."),
  events: describe(v.array(EventName), "The events that are sent."),
  status: describe(v.picklist(["active", "disabled"]), "Whether events are sent."),
  disabled_because: describe(
    v.optional(DisabledBecause),
    "Why the webhook is disabled. Left out while it is active.",
  ),
  failing_since: field.maybeText(
    "Start of the failed attempts, ISO 8601. Left out when the last attempt succeeded.",
  ),
  created_at: field.text("When it was created, ISO 8601."),
});

export const toWebhookSummary = (webhook: Webhook): v.InferOutput<typeof WebhookSummary> => {
  const { id, url, events, status, disabledBecause, failingSince, createdAt } = webhook;
  return {
    id,
    url,
    events,
    status,
    ...(disabledBecause && { disabled_because: disabledBecause }),
    ...(failingSince !== undefined && { failing_since: failingSince }),
    created_at: createdAt,
  };
};

/** Returns the caller's webhook. A webhook of another account causes the same failure as a missing webhook. */
export const requireWebhook = async (
  world: World,
  caller: Caller,
  id: string,
): Promise<Webhook> => {
  const webhook = await findWebhook(world.table, getOwnerId(caller), id);
  if (webhook) return webhook;
  throw noSuchWebhook();
};

export const noSuchWebhook = () =>
  new Failure("NOT_FOUND", "nothing_charged", "The account has no webhook with this id.");

export const DeliverySummary = v.object({
  id: field.text("The delivery's id."),
  event_id: field.text(
    "The event's id, also in the header webhook-id and the same on each attempt.",
  ),
  event: field.text("The event's type."),
  status: describe(v.picklist(DELIVERY_STATUSES), "The state of the delivery."),
  attempts: field.count("Number of attempts."),
  response_status: describe(
    v.nullable(Integer),
    "The HTTP status of the last response. Null when there was none.",
  ),
  payload: describe(
    v.nullable(v.record(v.string(), v.unknown())),
    "The body of the request: the event as it is sent. Null for an entry that is not sent.",
  ),
  response_body: field.textOrNull(
    "The first 500 characters of the last response, without the signing secret and the signature. Null when there was no body.",
  ),
  latency_ms: describe(
    v.nullable(Count),
    "Time until the last response, in milliseconds. Null when there was none.",
  ),
  error: field.textOrNull("Code for why the last attempt failed. Null when it did not."),
  created_at: field.text("When it was created, ISO 8601."),
  last_attempt_at: field.textOrNull(
    "When the last attempt was made, ISO 8601. Null before the first.",
  ),
  next_attempt_at: field.textOrNull(
    "When the next attempt is made, ISO 8601. Null when there is none.",
  ),
});

export const toDeliverySummary = (delivery: Delivery): v.InferOutput<typeof DeliverySummary> => ({
  id: delivery.id,
  event_id: delivery.event,
  event: delivery.type,
  status: delivery.status,
  attempts: delivery.attempts,
  response_status: delivery.responseStatus ?? null,
  payload: delivery.body === "" ? null : (JSON.parse(delivery.body) as Record<string, unknown>),
  response_body: delivery.responseBody ?? null,
  latency_ms: delivery.latencyMs ?? null,
  error: delivery.error ?? null,
  created_at: delivery.createdAt,
  last_attempt_at: delivery.lastTriedAt ?? null,
  next_attempt_at: delivery.nextTryAt ?? null,
});
