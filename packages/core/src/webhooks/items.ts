import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import { addMs, toEpochSeconds } from "../lib/time.ts";
import { toQueueGroup } from "../money/payer.ts";
import type { Fields, Item, Json, Key, Table, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { OutboxWrite } from "../runtime/commit.ts";
import { type ScheduledWork, scheduleWork } from "../runtime/leases.ts";
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from "./payloads.ts";
import { EVENTS_QUEUE } from "./wake-ups.ts";

// An event is a write of the transaction that causes it (`emitEvent`), so neither exists without the other. A message
// (wake-ups.ts) starts a worker, which replaces the event's due date by a delivery for each subscribed webhook and callback
// (fan-out.ts). Another worker leases a due delivery (deliver-event.ts), takes a slot of its URL, signs the call
// and sends it (signature.ts, send.ts), and stores its end or its next attempt (retry-policy.ts). When a message is lost,
// the reconciler finds the due event or delivery within a minute. `recordFailure` disables a webhook that keeps failing;
// event-feed.ts reads the same events by a cursor.
//
// Layout. One item counts the slots of a half-minute and expires with it.
//
//   pk                   sk             list_pk               list_sk      content
//   EVENT#<id>           EVENT          EVENTS#<owner>        <at>#<id>    an event
//   DELIVERY#<id>        DELIVERY       DELIVERIES#<webhook>  <at>#<id>    one event for one webhook, with its latest attempt
//   DELIVERY#<id>        DELIVERY       CALLBACKS#<job>       <at>#<id>    one event for the webhook_url of a job
//   WEBHOOKS#<owner>     <id>                                              a webhook: its URL and event types
//   WEBHOOKCOUNT#<owner> WEBHOOKCOUNT                                      webhooks: their number, for the limit
//   SLOTS#<slot key>     <window start>                                    n: slots in use in this half-minute

/** A URL that receives the event of one job only. `secret` is encrypted for the owner; null when requests are unsigned. */
const Callback = v.object({ url: v.string(), secret: v.nullable(v.string()) });

const OutboxEvent = v.object({
  id: v.string(),
  owner: v.string(),
  type: v.picklist(WEBHOOK_EVENT_TYPES),
  createdAt: v.string(),
  data: v.record(v.string(), v.unknown()),
  /** The job's callback, which receives the event in addition to the subscribed webhooks. */
  callback: v.optional(Callback),
});

export type OutboxEvent = Readonly<v.InferOutput<typeof OutboxEvent>>;

const RETENTION_SECONDS = 30 * 86_400;

const getExpiry = (now: Date): number => toEpochSeconds(now) + RETENTION_SECONDS;

export const EVENT = "event";
/** The reconciler sends the event's message if the emitting process has not sent it within 30 s. */
const FAN_OUT_WITHIN_MS = 30_000;

export const emitEvent = (
  world: Pick<World, "now" | "newId">,
  owner: string,
  type: WebhookEventType,
  data: Readonly<Record<string, Json>>,
  callback?: OutboxEvent["callback"],
): OutboxWrite => {
  const id = world.newId("evt");
  const token = world.newId("txn");
  const now = world.now();
  const createdAt = now.toISOString();
  return {
    create: {
      ...toEventKey(id),
      list_pk: toEventsPartition(owner),
      list_sk: `${createdAt}#${id}`,
      expires_at: getExpiry(now),
      id,
      owner,
      type,
      createdAt,
      data,
      ...(callback && { callback }),
      ...scheduleWork(EVENT, id, addMs(now, FAN_OUT_WITHIN_MS), token),
    },
    sends: {
      queue: EVENTS_QUEUE.name,
      message: { body: { id, token }, delaySeconds: 0, ...toQueueGroup(owner) },
    },
  };
};

export const toEventKey = (id: string): Key => ({ pk: `EVENT#${id}`, sk: "EVENT" });
const toEventsPartition = (owner: string): string => `EVENTS#${owner}`;

export const queryEvents = (table: Table, owner: string, since: string): AsyncGenerator<Item> =>
  paginateQuery(table, {
    index: "list",
    pk: toEventsPartition(owner),
    sk: { from: since, to: LAST },
  });

/** Sorts after every time in the indexes of events and deliveries. */
export const LAST = "~";
export const readEvent = (item: Item): OutboxEvent => v.parse(OutboxEvent, item);

export const WEBHOOK_STATUSES = ["active", "disabled"] as const;

const Webhook = v.object({
  id: v.string(),
  owner: v.string(),
  url: v.string(),
  events: v.array(v.picklist(WEBHOOK_EVENT_TYPES)),
  status: v.picklist(WEBHOOK_STATUSES),
  /** Why the webhook is disabled: by its owner, after days of failures, or because its server responded with 410. */
  disabledBecause: v.optional(v.picklist(["asked", "failing", "gone"])),
  /** The secret is encrypted for the owner. */
  secret: v.string(),
  createdAt: v.string(),
  /** The time since which every attempt has failed. Absent when the last attempt succeeded. */
  failingSince: v.optional(v.string()),
});

export type Webhook = Readonly<v.InferOutput<typeof Webhook>>;

const toWebhooksPartition = (owner: string): string => `WEBHOOKS#${owner}`;
export const toWebhookKey = ({ owner, id }: Pick<Webhook, "owner" | "id">): Key => ({
  pk: toWebhooksPartition(owner),
  sk: id,
});
export const toWebhookItem = (webhook: Webhook): Item => ({ ...toWebhookKey(webhook), ...webhook });
export const readWebhook = (item: Item): Webhook => v.parse(Webhook, item);

export const WEBHOOKS_MAX = 20;

const toWebhookCountKey = (owner: string): Key => ({
  pk: `WEBHOOKCOUNT#${owner}`,
  sk: "WEBHOOKCOUNT",
});

export const incrementWebhookCount = (owner: string): Write => ({
  update: toWebhookCountKey(owner),
  add: { webhooks: 1 },
  bounds: { webhooks: { atMost: WEBHOOKS_MAX } },
  orCreate: true,
});

export const buildWebhookRemoval = (webhook: Webhook): Write[] => [
  { remove: toWebhookKey(webhook) },
  { update: toWebhookCountKey(webhook.owner), add: { webhooks: -1 } },
];

export const listWebhooks = async (table: Table, owner: string): Promise<Webhook[]> => {
  const items = await Array.fromAsync(paginateQuery(table, { pk: toWebhooksPartition(owner) }));
  return items.map(readWebhook).toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
};

/** `noted`: an entry about the webhook itself, such as its disabling, which is not sent. */
export const DELIVERY_STATUSES = ["pending", "delivered", "failed", "noted"] as const;

const Delivery = v.object({
  id: v.string(),
  owner: v.string(),
  /** Null for a callback, whose URL is in `callback`. */
  webhook: v.nullable(v.string()),
  callback: v.optional(Callback),
  job: v.optional(v.string()),
  event: v.string(),
  type: v.string(),
  /** The request body, the same bytes on each attempt. */
  body: v.string(),
  status: v.picklist(DELIVERY_STATUSES),
  createdAt: v.string(),
  attempts: v.number(),
  /** The number of times since the last attempt that the delivery found no free slot. */
  waits: v.number(),
  triedSince: v.optional(v.string()),
  lastTriedAt: v.optional(v.string()),
  nextTryAt: v.optional(v.string()),
  responseStatus: v.optional(v.number()),
  latencyMs: v.optional(v.number()),
  error: v.optional(v.string()),
  responseBody: v.optional(v.string()),
});

export type Delivery = Readonly<v.InferOutput<typeof Delivery>>;

export const DELIVERY = "delivery";

export const toDeliveryKey = (id: string): Key => ({ pk: `DELIVERY#${id}`, sk: "DELIVERY" });
export const toDeliveriesPartition = (webhook: string): string => `DELIVERIES#${webhook}`;
export const toCallbacksPartition = (job: string): string => `CALLBACKS#${job}`;
export const readDelivery = (item: Item): Delivery => v.parse(Delivery, item);

const toLogIndex = ({ webhook, job, createdAt, id }: Delivery): Fields => {
  const log = webhook === null ? job && toCallbacksPartition(job) : toDeliveriesPartition(webhook);
  return log === undefined ? {} : { list_pk: log, list_sk: `${createdAt}#${id}` };
};

/** Without a schedule the item records a finished delivery. */
export const toDeliveryItem = (delivery: Delivery, now: Date, schedule?: ScheduledWork): Item => ({
  ...toDeliveryKey(delivery.id),
  ...toLogIndex(delivery),
  expires_at: getExpiry(now),
  ...delivery,
  ...schedule,
});

export const toSlotsKey = (concurrencyKey: string, window: number): Key => ({
  pk: `SLOTS#${concurrencyKey}`,
  sk: String(window),
});
