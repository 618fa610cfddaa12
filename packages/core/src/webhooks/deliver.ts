import { queuedFor } from "../access/payer.ts";
import { commit } from "../commit.ts";
import { NOT_DUE, readDue, take } from "../due.ts";
import { fingerprint } from "../fingerprint.ts";
import { inMs } from "../moments.ts";
import type { Fields, Item } from "../table.ts";
import type { Worker } from "../worker.ts";
import type { World } from "../world.ts";
import { noteArrived, noteFailed } from "./health.ts";
import { type Delivery, deliveryKey, readDelivery, type Webhook } from "./items.ts";
import { callFor, DELIVERIES_QUEUE, readCall } from "./messages.ts";
import { leavePlace, takePlace } from "./places.ts";
import { nextTryAt, waitForPlaceMs } from "./policy.ts";
import { type Address, sendOnce } from "./send.ts";
import { findWebhook } from "./webhooks.ts";

// One event on its way to one address, until it has arrived or a day has passed. It is sent before it is noted that
// it was: so it may come twice, and is never lost.

export const deliver: Worker = {
  queue: DELIVERIES_QUEUE,
  async handle(world, body) {
    const { id, token } = readCall(body);
    const item = await world.table.get(deliveryKey(id));
    if (item?.["token"] !== token) return;
    const taken = await take(world, item, LEASE_MS);
    if (taken) await tryDelivery(world, taken);
  },
  // It is due, and so comes again by itself.
  giveUp: async (world, body) => world.log("delivery_put_off", { delivery: readCall(body).id }),
};

/** A call takes ten seconds at the most; what is written before and after it, far less. */
const LEASE_MS = 60_000;

/** Whoever finds it due calls a worker: it may take its time, and others are due, too. */
export const repairDelivery = async (world: World, item: Item): Promise<string> => {
  const { id, owner } = readDelivery(item);
  await callFor(world, DELIVERIES_QUEUE, [{ id, token: readDue(item).token, owner }]);
  return "sent_on";
};

/** Ours as long as it has our token. */
type Held = { readonly delivery: Delivery; readonly token: string };

const tryDelivery = async (world: World, item: Item): Promise<void> => {
  const held: Held = { delivery: readDelivery(item), token: readDue(item).token };
  const whom = await whomOf(world, held.delivery);
  if (typeof whom === "string") return ended(world, held, "failed", { error: whom });
  const isFailing = whom.webhook?.failingSince !== undefined;
  const place = await takePlace(world, laneOf(held.delivery), isFailing);
  if (!place) return putOff(world, held);
  try {
    await attempt(world, held, whom);
  } finally {
    await leavePlace(world, place);
  }
};

type Whom = { readonly address: Address; readonly webhook: Webhook | undefined };

/** Asked anew before each try: the address, the secret and the subscription are those of now. */
const whomOf = async (
  world: World,
  { owner, webhook: id, callback }: Delivery,
): Promise<Whom | "webhook_deleted" | "webhook_disabled"> => {
  if (callback) return { address: callback, webhook: undefined };
  const webhook = id === null ? undefined : await findWebhook(world.table, owner, id);
  if (!webhook) return "webhook_deleted";
  return webhook.status === "disabled" ? "webhook_disabled" : { address: webhook, webhook };
};

/**
 * Callbacks of one account to one server share its places, and so do some of its servers: an account that names a new
 * one with each batch, all of which hang, takes half of what we have in hand and not all, with both kinds of key.
 */
const laneOf = ({ owner, webhook, callback }: Delivery): string =>
  webhook ?? `${queuedFor(owner).group} ${laneAmong(new URL(callback?.url ?? "").host)}`;

const laneAmong = (host: string): number => fingerprint(host).charCodeAt(0) % CALLBACK_LANES;

const CALLBACK_LANES = 4;

const attempt = async (world: World, held: Held, { address, webhook }: Whom): Promise<void> => {
  const { attempts: before, triedSince } = held.delivery;
  const startedAt = world.now().toISOString();
  const { verdict, facts } = await sendOnce(world, address, held.delivery);
  const tried = {
    ...facts,
    attempts: before + 1,
    waits: 0,
    triedSince: triedSince ?? startedAt,
    lastTriedAt: startedAt,
  };
  if (verdict.kind === "failed") {
    const next = nextTryAt(
      { attempts: tried.attempts, triedSince: new Date(tried.triedSince) },
      { now: world.now(), random: world.random, earliestMs: verdict.earliestMs },
    );
    await (next ? again(world, held, tried, next) : ended(world, held, "failed", tried));
  } else await ended(world, held, verdict.kind === "gone" ? "failed" : "delivered", tried);
  if (!webhook) return;
  await (verdict.kind === "delivered"
    ? noteArrived(world, webhook)
    : noteFailed(world, webhook, verdict.kind));
};

const ended = async (
  world: World,
  held: Held,
  status: "delivered" | "failed",
  told: Fields,
): Promise<void> => {
  await noted(world, held, { ...told, ...NOT_DUE, nextTryAt: undefined, status });
};

const putOff = (world: World, held: Held): Promise<void> => {
  const { waits } = held.delivery;
  const next = inMs(world.now(), waitForPlaceMs(waits, world.random));
  return again(world, held, { waits: waits + 1 }, next);
};

/** What a message comes for in time is due a little later, in case that it does not come. */
const GRACE_MS = 60_000;
/** A queue holds nothing back for longer. */
const BY_MESSAGE_MS = 15 * 60_000;

const again = async (world: World, held: Held, told: Fields, next: Date): Promise<void> => {
  const delayMs = next.getTime() - world.now().getTime();
  const isByMessage = delayMs <= BY_MESSAGE_MS;
  const token = world.newId("txn");
  const isNoted = await noted(world, held, {
    ...told,
    token,
    nextTryAt: next.toISOString(),
    due_sk: inMs(next, isByMessage ? GRACE_MS : 0).toISOString(),
  });
  const { id, owner } = held.delivery;
  const calls = [{ id, token, owner }];
  if (isNoted && isByMessage) await callFor(world, DELIVERIES_QUEUE, calls, delayMs);
};

/** False: somebody else has it by now, since our time was up or its owner wanted it sent again. */
const noted = async (world: World, { delivery, token }: Held, set: Fields): Promise<boolean> => {
  const { outcome } = await commit(world, [
    { update: deliveryKey(delivery.id), set, where: { token } },
  ]);
  return outcome === "committed";
};
