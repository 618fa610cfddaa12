import { addMs } from "../lib/time.ts";
import type { Item, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { MAX_LEASE_MS, readScheduledWork, scheduleWork, UNSCHEDULED } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import type { Worker } from "../runtime/worker.ts";
import {
  DELIVERY,
  type Delivery,
  EVENT,
  listWebhooks,
  type OutboxEvent,
  readEvent,
  toDeliveryItem,
  toEventKey,
} from "./items.ts";
import { createEventMails } from "./mail-items.ts";
import { toEventBody } from "./payloads.ts";
import { DELIVERIES_QUEUE, EVENTS_QUEUE, readWakeUp, sendWakeUps } from "./wake-ups.ts";

// Creates a delivery of an event for each subscribed webhook and callback, and its mail, in the transaction that ends the event.

export const fanOutEvent: Worker = {
  queue: EVENTS_QUEUE,
  lambda: { batch: 10, concurrency: 10 },
  needs: ["table:readwrite", "queue:send"],
  async handle(world, body) {
    const { id, token } = readWakeUp(body);
    const item = await world.table.get(toEventKey(id));
    if (item?.["token"] === token) await fanOut(world, item);
  },
  // The event is scheduled, so the reconciler sends its message again.
  giveUp: {
    needs: ["table:readwrite"],
    handle: async (world, body) => world.log("event_deferred", { event: readWakeUp(body).id }),
  },
};

/** The reconciler sends the deliveries' messages if this process has not sent them within 30 s. */
const SEND_WITHIN_MS = 30_000;

const fanOut = async (world: World, item: Item): Promise<string> => {
  const event = readEvent(item);
  const { token } = readScheduledWork(item);
  const now = world.now();
  const deliveries = (await findRecipients(world.table, event)).map((recipient) => {
    const id = world.newId("dlv");
    const schedule = scheduleWork(DELIVERY, id, addMs(now, SEND_WITHIN_MS), world.newId("txn"));
    return {
      item: toDeliveryItem(createDelivery(id, event, recipient, now), now, schedule),
      id,
      token: schedule.token,
    };
  });
  const { outcome } = await commit(world, {
    proof: null,
    also: [
      { update: toEventKey(event.id), set: UNSCHEDULED, where: { token } },
      ...deliveries.map((delivery) => ({ create: delivery.item })),
      ...createEventMails(world, event),
    ],
  });
  if (outcome === "ambiguous") throw new Error("unknown whether the event was fanned out");
  if (outcome === "refused") return "left_to_others";
  await sendWakeUps(
    world,
    DELIVERIES_QUEUE,
    deliveries.map((delivery) => ({ ...delivery, owner: event.owner })),
  );
  return "fanned_out";
};

type FanOutRecipient = Pick<Delivery, "webhook" | "callback" | "job">;

const findRecipients = async (
  table: Table,
  { owner, type, callback, data }: OutboxEvent,
): Promise<readonly FanOutRecipient[]> => {
  const webhooks = await listWebhooks(table, owner);
  const subscribed = webhooks.filter(
    ({ status, events }) => status === "active" && events.includes(type),
  );
  return [
    ...subscribed.map(({ id }) => ({ webhook: id })),
    ...(callback ? [{ webhook: null, callback, ...readJobId(data) }] : []),
  ];
};

/** Only jobs have callbacks, and their events contain the job's id. */
const readJobId = ({ job_id: job }: OutboxEvent["data"]): Pick<Delivery, "job"> =>
  typeof job === "string" ? { job } : {};

export const createDelivery = (
  id: string,
  event: Pick<OutboxEvent, "id" | "owner" | "createdAt" | "data"> & { readonly type: string },
  recipient: FanOutRecipient,
  now: Date,
): Delivery => ({
  id,
  owner: event.owner,
  ...recipient,
  event: event.id,
  type: event.type,
  body: toEventBody(event),
  status: "pending",
  createdAt: now.toISOString(),
  nextTryAt: now.toISOString(),
  attempts: 0,
  waits: 0,
});

export const eventWork: WorkKind = {
  kind: EVENT,
  repair: fanOut,
  longestWaitMs: MAX_LEASE_MS,
};
