import { commit } from "../commit.ts";
import { dueAt, NOT_DUE, readDue } from "../due.ts";
import { inMs } from "../moments.ts";
import type { Item, Table } from "../table.ts";
import type { Worker } from "../worker.ts";
import type { World } from "../world.ts";
import {
  DELIVERY,
  type Delivery,
  deliveryItem,
  type Event,
  eventKey,
  readEvent,
  webhooksListed,
} from "./items.ts";
import { callFor, DELIVERIES_QUEUE, EVENTS_QUEUE, readCall } from "./messages.ts";
import { bodyOf } from "./payloads.ts";

// One event becomes a delivery for everybody who is to be told, in the transaction that makes it done.

export const fanOutEvent: Worker = {
  queue: EVENTS_QUEUE,
  async handle(world, body) {
    const { id, token } = readCall(body);
    const item = await world.table.get(eventKey(id));
    if (item?.["token"] === token) await fanOut(world, item);
  },
  // It is due, and so comes again by itself.
  giveUp: async (world, body) => world.log("event_put_off", { event: readCall(body).id }),
};

/** Whoever fans out has this long to tell the workers of the deliveries. */
const SEND_WITHIN_MS = 30_000;

export const fanOut = async (world: World, item: Item): Promise<string> => {
  const event = readEvent(item);
  const { token } = readDue(item);
  const now = world.now();
  const made = (await toldOf(world.table, event)).map((whom) => {
    const id = world.newId("dlv");
    const due = dueAt(DELIVERY, id, inMs(now, SEND_WITHIN_MS), world.newId("txn"));
    return {
      item: deliveryItem(newDelivery(id, event, whom, now), now, due),
      id,
      token: due.token,
    };
  });
  const { outcome } = await commit(world, [
    { update: eventKey(event.id), set: NOT_DUE, where: { token } },
    ...made.map((delivery) => ({ create: delivery.item })),
  ]);
  if (outcome === "ambiguous") throw new Error("it is not known whether the event is fanned out");
  if (outcome === "refused") return "left_to_others";
  await callFor(
    world,
    DELIVERIES_QUEUE,
    made.map((delivery) => ({ ...delivery, owner: event.owner })),
  );
  return "fanned_out";
};

type Whom = Pick<Delivery, "webhook" | "callback" | "job">;

const toldOf = async (
  table: Table,
  { owner, type, callback, data }: Event,
): Promise<readonly Whom[]> => {
  const webhooks = await webhooksListed(table, owner);
  const subscribed = webhooks.filter(
    ({ status, events }) => status === "active" && events.includes(type),
  );
  return [
    ...subscribed.map(({ id }) => ({ webhook: id })),
    ...(callback ? [{ webhook: null, callback, ...readJobId(data) }] : []),
  ];
};

/** Only a job has a callback, and its event names it. */
const readJobId = ({ job_id: job }: Event["data"]): Pick<Delivery, "job"> =>
  typeof job === "string" ? { job } : {};

export const newDelivery = (
  id: string,
  event: Pick<Event, "id" | "owner" | "createdAt" | "data"> & { readonly type: string },
  whom: Whom,
  now: Date,
): Delivery => ({
  id,
  owner: event.owner,
  ...whom,
  event: event.id,
  type: event.type,
  body: bodyOf(event),
  status: "pending",
  createdAt: now.toISOString(),
  nextTryAt: now.toISOString(),
  attempts: 0,
  waits: 0,
});
