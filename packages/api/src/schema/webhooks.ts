import { ownerOf } from "@mailproof/core/access/payer";
import { Failure } from "@mailproof/core/failure";
import { DELIVERY_STATUSES, type Delivery, type Webhook } from "@mailproof/core/webhooks/items";
import { EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { findWebhook } from "@mailproof/core/webhooks/webhooks";
import type { World } from "@mailproof/core/world";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { Count, Integer, listOf } from "./common.ts";

// What the routes of webhooks have in common.

export const EventName = v.picklist(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(", ")}`);

/** Each once, in the order sent. */
export const EventNames = v.pipe(
  listOf(EventName, 100),
  v.minLength(1, "must name at least one event"),
  v.transform((names) => [...new Set(names)]),
);

/** A webhook as its owner sees it: everything but the secret. */
export const WebhookFacts = v.object({
  id: v.string(),
  url: v.string(),
  events: v.array(EventName),
  status: v.picklist(["active", "disabled"]),
  /** asked: by its owner. failing: nothing arrived for five days. gone: the address answered 410. */
  disabled_because: v.optional(v.picklist(["asked", "failing", "gone"])),
  /** Since when every try has failed. */
  failing_since: v.optional(v.string()),
  created_at: v.string(),
});

export const toWebhookFacts = (webhook: Webhook): v.InferOutput<typeof WebhookFacts> => {
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

/** The caller's webhook, or a failure that does not tell whether it is somebody else's. */
export const webhookOf = async (world: World, caller: Caller, id: string): Promise<Webhook> => {
  const webhook = await findWebhook(world.table, ownerOf(caller), id);
  if (webhook) return webhook;
  throw noSuchWebhook();
};

export const noSuchWebhook = () =>
  new Failure("NOT_FOUND", "nothing_charged", "The account has no webhook with this id.");

export const DeliveryFacts = v.object({
  id: v.string(),
  /** What it told of: also the header webhook-id, the same on each try. */
  event_id: v.string(),
  event: v.string(),
  /** noted: what became of the webhook itself. It was never sent. */
  status: v.picklist(DELIVERY_STATUSES),
  attempts: Count,
  response_status: v.nullable(Integer),
  latency_ms: v.nullable(Count),
  error: v.nullable(v.string()),
  created_at: v.string(),
  last_attempt_at: v.nullable(v.string()),
  next_attempt_at: v.nullable(v.string()),
});

export const toDeliveryFacts = (delivery: Delivery): v.InferOutput<typeof DeliveryFacts> => ({
  id: delivery.id,
  event_id: delivery.event,
  event: delivery.type,
  status: delivery.status,
  attempts: delivery.attempts,
  response_status: delivery.responseStatus ?? null,
  latency_ms: delivery.latencyMs ?? null,
  error: delivery.error ?? null,
  created_at: delivery.createdAt,
  last_attempt_at: delivery.lastTriedAt ?? null,
  next_attempt_at: delivery.nextTryAt ?? null,
});
