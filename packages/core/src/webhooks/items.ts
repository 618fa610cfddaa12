import * as v from "valibot";
import { toQueueGroup } from "../accounts/payer.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { addMs, toEpochSeconds } from "../lib/time.ts";
import type { Fields, Item, Json, Key, Table, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { OutboxWrite } from "../runtime/commit.ts";
import { type ScheduledWork, scheduleWork } from "../runtime/leases.ts";
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from "./payloads.ts";
import { EVENTS_QUEUE } from "./wake-ups.ts";

// Layout. An event is written in the transaction of what it announces, so neither is ever there alone. It is due
// until there is a delivery for everybody who is to be told; a delivery is due until it has arrived or is given up.
// A place stands for a call under way; those of a half-minute are counted together, and forgotten together.
//
//   pk                   sk             list_pk               list_sk      what
//   EVENT#<id>           EVENT          EVENTS#<owner>        <at>#<id>    what happened
//   DELIVERY#<id>        DELIVERY       DELIVERIES#<webhook>  <at>#<id>    one event for one address, and each try
//   DELIVERY#<id>        DELIVERY       CALLBACKS#<job>       <at>#<id>    the same, for the webhook_url of a job
//   WEBHOOKS#<owner>     <id>                                              who is told of what
//   WEBHOOKCOUNT#<owner> WEBHOOKCOUNT                                      webhooks: how many, for the limit
//   PLACES#<lane>        <window start>                                    n: places taken in this half-minute

/** Who is to be called for one thing alone. `secret` is sealed for the owner; null: unsigned. */
const Callback = v.object({ url: v.string(), secret: v.nullable(v.string()) });

const OutboxEvent = v.object({
  id: v.string(),
  owner: v.string(),
  type: v.picklist(WEBHOOK_EVENT_TYPES),
  createdAt: v.string(),
  data: v.record(v.string(), v.unknown()),
  /** Whoever asked to be told of this one thing, besides those who subscribed. */
  callback: v.optional(Callback),
});

export type OutboxEvent = Readonly<v.InferOutput<typeof OutboxEvent>>;

const RETENTION_SECONDS = 30 * 86_400;

const getExpiry = (now: Date): number => toEpochSeconds(now) + RETENTION_SECONDS;

export const EVENT = "event";
/** Whoever announced it has this long to say so to the workers, before somebody else looks. */
const FAN_OUT_WITHIN_MS = 30_000;

/** The write that makes it known. */
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
export const readEvent = (item: Item): OutboxEvent => v.parse(OutboxEvent, item);

export const WEBHOOK_STATUSES = ["active", "disabled"] as const;

const Webhook = v.object({
  id: v.string(),
  owner: v.string(),
  url: v.string(),
  events: v.array(v.picklist(WEBHOOK_EVENT_TYPES)),
  status: v.picklist(WEBHOOK_STATUSES),
  /** Who disabled it: its owner, or we because it failed for days, or its server by saying that it is gone. */
  disabledBecause: v.optional(v.picklist(["asked", "failing", "gone"])),
  /** Sealed for the owner. */
  secret: v.string(),
  createdAt: v.string(),
  /** Since when every try has failed; nothing while the last one arrived. */
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

/** `noted` is what became of the webhook itself, kept among its deliveries: it was never sent. */
export const DELIVERY_STATUSES = ["pending", "delivered", "failed", "noted"] as const;

const Delivery = v.object({
  id: v.string(),
  owner: v.string(),
  /** Null: a callback, whose address it carries itself. */
  webhook: v.nullable(v.string()),
  callback: v.optional(Callback),
  /** The job that the callback belongs to. Deliveries of 0.1.0 do not say. */
  job: v.optional(v.string()),
  event: v.string(),
  type: v.string(),
  /** What is sent, the same bytes on each try. */
  body: v.string(),
  status: v.picklist(DELIVERY_STATUSES),
  createdAt: v.string(),
  attempts: v.number(),
  /** How often it was put off because too many calls to its address were under way, since one was made. */
  waits: v.number(),
  /** When its time for being tried began; from there it has a day. */
  triedSince: v.optional(v.string()),
  lastTriedAt: v.optional(v.string()),
  nextTryAt: v.optional(v.string()),
  responseStatus: v.optional(v.number()),
  latencyMs: v.optional(v.number()),
  error: v.optional(v.string()),
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

/** Without a moment at which it is due it is nobody's work: a record of what was. */
export const toDeliveryItem = (delivery: Delivery, now: Date, schedule?: ScheduledWork): Item => ({
  ...toDeliveryKey(delivery.id),
  ...toLogIndex(delivery),
  expires_at: getExpiry(now),
  ...delivery,
  ...schedule,
});

export const toSlotsKey = (concurrencyKey: string, window: number): Key => ({
  pk: `PLACES#${concurrencyKey}`,
  sk: String(window),
});
