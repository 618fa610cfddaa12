import { addMs } from "../lib/time.ts";
import type { Item, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { readScheduledWork, scheduleWork, UNSCHEDULED } from "../runtime/leases.ts";
import type { Worker } from "../runtime/worker.ts";
import {
  DELIVERY,
  type Delivery,
  listWebhooks,
  type OutboxEvent,
  readEvent,
  toDeliveryItem,
  toEventKey,
} from "./items.ts";
import { toEventBody } from "./payloads.ts";
import { DELIVERIES_QUEUE, EVENTS_QUEUE, readWakeUp, sendWakeUps } from "./wake-ups.ts";

// One event becomes a delivery for everybody who is to be told, in the transaction that makes it done.

export const fanOutEvent: Worker = {
  queue: EVENTS_QUEUE,
  async handle(world, body) {
    const { id, token } = readWakeUp(body);
    const item = await world.table.get(toEventKey(id));
    if (item?.["token"] === token) await fanOut(world, item);
  },
  // It is due, and so comes again by itself.
  giveUp: async (world, body) => world.log("event_put_off", { event: readWakeUp(body).id }),
};

/** Whoever fans out has this long to tell the workers of the deliveries. */
const SEND_WITHIN_MS = 30_000;

export const fanOut = async (world: World, item: Item): Promise<string> => {
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
  const { outcome } = await commit(world, [
    { update: toEventKey(event.id), set: UNSCHEDULED, where: { token } },
    ...deliveries.map((delivery) => ({ create: delivery.item })),
  ]);
  if (outcome === "ambiguous") throw new Error("it is not known whether the event is fanned out");
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

/** Only a job has a callback, and its event names it. */
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
