import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { addMs } from "../lib/time.ts";
import type { Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { scheduleWork } from "../runtime/leases.ts";
import { createDelivery } from "./fan-out.ts";
import {
  DELIVERY,
  type Delivery,
  LAST,
  readDelivery,
  toCallbacksPartition,
  toDeliveriesPartition,
  toDeliveryItem,
  toDeliveryKey,
  type Webhook,
} from "./items.ts";
import { SAMPLE_DATA, TEST_EVENT, type WebhookEventType } from "./payloads.ts";
import { sendDelivery } from "./send.ts";
import { DELIVERIES_QUEUE, sendWakeUps } from "./wake-ups.ts";

const DELIVERIES_MAX = 100;

export const listDeliveries = (table: Table, webhook: string): Promise<Delivery[]> =>
  listFromPartition(table, toDeliveriesPartition(webhook));

export const listCallbacks = (table: Table, job: string): Promise<Delivery[]> =>
  listFromPartition(table, toCallbacksPartition(job));

const listFromPartition = async (table: Table, pk: string): Promise<Delivery[]> => {
  const deliveries: Delivery[] = [];
  const query = { index: "list", pk, newestFirst: true } as const;
  for await (const item of paginateQuery(table, query)) {
    deliveries.push(readDelivery(item));
    if (deliveries.length === DELIVERIES_MAX) break;
  }
  return deliveries;
};

const SEND_WITHIN_MS = 30_000;

/** Sends a delivery again at once, with another day of attempts. Undefined when the delivery does not exist. */
export const retryDelivery = async (
  world: World,
  webhook: Webhook,
  id: string,
): Promise<Delivery | undefined> => {
  const item = await world.table.get(toDeliveryKey(id));
  const delivery = item && readDelivery(item);
  if (delivery?.webhook !== webhook.id || delivery.status === "noted") return undefined;
  if (webhook.status === "disabled") {
    const what = "The webhook is disabled; enable it first.";
    throw new Failure("NOT_READY", "nothing_charged", what);
  }
  const now = world.now();
  const token = world.newId("txn");
  const { outcome } = await commit(world, {
    proof: null,
    also: [
      {
        update: toDeliveryKey(id),
        set: {
          ...scheduleWork(DELIVERY, id, addMs(now, SEND_WITHIN_MS), token),
          status: "pending",
          nextTryAt: now.toISOString(),
          triedSince: undefined,
          waits: 0,
        },
      },
    ],
  });
  if (outcome === "ambiguous") {
    const what = "It is not known whether the delivery is sent again. Check the deliveries.";
    throw createUnavailableFailure(what);
  }
  if (outcome === "refused") return undefined;
  await sendWakeUps(world, DELIVERIES_QUEUE, [{ id, token, owner: delivery.owner }]);
  return { ...delivery, status: "pending", nextTryAt: now.toISOString() };
};

/** One request replays at most 200 deliveries and reads at most 2,000, so it ends within a Lambda's time. */
const REPLAY_LIMITS = { replayed: 200, read: 2_000 };

/** `next`: the time from which the next request continues. Undefined at the end. */
export type Replay = { readonly replayed: number; readonly next: string | undefined };

/** Sends the deliveries again that failed since this time, oldest first, as `retryDelivery` does. */
export const replayFailed = async (
  world: World,
  webhook: Webhook,
  since: string,
): Promise<Replay> => {
  let [replayed, read] = [0, 0];
  const query = {
    index: "list",
    pk: toDeliveriesPartition(webhook.id),
    sk: { from: since, to: LAST },
  } as const;
  for await (const item of paginateQuery(world.table, query)) {
    const { id, status, createdAt } = readDelivery(item);
    const isOver = replayed === REPLAY_LIMITS.replayed || read >= REPLAY_LIMITS.read;
    // Deliveries of one moment stay together: the next request starts with the first delivery of this time.
    if (isOver && createdAt > since) return { replayed, next: createdAt };
    read++;
    if (status === "failed" && (await retryDelivery(world, webhook, id))) replayed++;
  }
  return { replayed, next: undefined };
};

/** Calls the URL once, now, whatever the webhook's status, and returns the delivery. */
export const sendTestEvent = async (
  world: World,
  webhook: Webhook,
  type: WebhookEventType | typeof TEST_EVENT = TEST_EVENT,
): Promise<Delivery> => {
  const now = world.now();
  const { id, owner } = webhook;
  const event = {
    id: world.newId("evt"),
    owner,
    type,
    createdAt: now.toISOString(),
    data: type === TEST_EVENT ? { webhook_id: id } : SAMPLE_DATA[type],
  };
  const { nextTryAt: _, ...unsent } = createDelivery(
    world.newId("dlv"),
    event,
    { webhook: id },
    now,
  );
  const { verdict, fields } = await sendDelivery(world, webhook, unsent);
  const delivery: Delivery = {
    ...unsent,
    ...fields,
    status: verdict.kind === "delivered" ? "delivered" : "failed",
    attempts: 1,
    lastTriedAt: now.toISOString(),
  };
  // Ignores a failed write: the event was sent all the same.
  await world.table.write({ create: toDeliveryItem(delivery, now) }).catch(() => undefined);
  return delivery;
};
