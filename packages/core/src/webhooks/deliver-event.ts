import { fingerprint } from "../lib/fingerprint.ts";
import { addMs, MINUTE_MS } from "../lib/time.ts";
import { toQueueGroup } from "../money/payer.ts";
import type { Fields, Item } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { acquireLease, readScheduledWork, UNSCHEDULED } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import type { Worker } from "../runtime/worker.ts";
import { recordFailure, recordSuccess } from "./health.ts";
import { DELIVERY, type Delivery, readDelivery, toDeliveryKey, type Webhook } from "./items.ts";
import { getNextAttempt, getSlotWaitMs, RETRY_WINDOW_MS } from "./retry-policy.ts";
import { type DeliveryAddress, sendDelivery } from "./send.ts";
import { acquireSlot, releaseSlot } from "./slots.ts";
import { DELIVERIES_QUEUE, readWakeUp, sendWakeUps } from "./wake-ups.ts";
import { findWebhook } from "./webhooks.ts";

// Delivers one event to one URL until the delivery succeeds or a day has passed. It sends the event before it stores the
// result, so the event may arrive twice and is never lost.

export const deliverEvent: Worker = {
  queue: DELIVERIES_QUEUE,
  lambda: { batch: 1, concurrency: 64 },
  needs: ["table:readwrite", "queue:send", "https", "seal"],
  async handle(world, body) {
    const { id, token } = readWakeUp(body);
    const item = await world.table.get(toDeliveryKey(id));
    if (item?.["token"] !== token) return;
    const leased = await acquireLease(world, item, LEASE_MS);
    if (leased) await attemptDelivery(world, leased);
  },
  // The delivery is scheduled, so the reconciler sends its message again.
  giveUp: {
    needs: ["table:readwrite", "seal"],
    handle: async (world, body) =>
      world.log("delivery_deferred", { delivery: readWakeUp(body).id }),
  },
};

/** A call takes at most ten seconds; the writes before and after it take far less. */
const LEASE_MS = 60_000;

/** Sends a message to a worker instead of calling the URL: a call may take long, and other work is due, too. */
const repairDelivery = async (world: World, item: Item): Promise<string> => {
  const { id, owner } = readDelivery(item);
  await sendWakeUps(world, DELIVERIES_QUEUE, [{ id, token: readScheduledWork(item).token, owner }]);
  return "sent_on";
};

/** The lease is ours while the delivery contains our token. */
type LeasedDelivery = { readonly delivery: Delivery; readonly token: string };

const attemptDelivery = async (world: World, item: Item): Promise<void> => {
  const leased: LeasedDelivery = {
    delivery: readDelivery(item),
    token: readScheduledWork(item).token,
  };
  const recipient = await findRecipient(world, leased.delivery);
  if (typeof recipient === "string")
    return endDelivery(world, leased, "failed", { error: recipient });
  const isFailing = recipient.webhook?.failingSince !== undefined;
  const slot = await acquireSlot(world, toConcurrencyKey(leased.delivery), isFailing);
  if (!slot) return deferDelivery(world, leased);
  try {
    await callAddress(world, leased, recipient);
  } finally {
    await releaseSlot(world, slot);
  }
};

type DeliveryRecipient = {
  readonly address: DeliveryAddress;
  readonly webhook: Webhook | undefined;
};

/** Reads the webhook before each attempt, so that URL, secret and subscription are current. */
const findRecipient = async (
  world: World,
  { owner, webhook: id, callback }: Delivery,
): Promise<DeliveryRecipient | "webhook_deleted" | "webhook_disabled"> => {
  if (callback) return { address: callback, webhook: undefined };
  const webhook = id === null ? undefined : await findWebhook(world.table, owner, id);
  if (!webhook) return "webhook_deleted";
  return webhook.status === "disabled" ? "webhook_disabled" : { address: webhook, webhook };
};

/**
 * An account's callbacks to one server share its slots, and some of its servers share slots, too. An account that sends each
 * batch's callback to another hanging server, with both key modes, therefore uses only half of the queue's concurrency.
 */
const toConcurrencyKey = ({ owner, webhook, callback }: Delivery): string =>
  webhook ?? `${toQueueGroup(owner).group} ${toCallbackGroup(new URL(callback?.url ?? "").host)}`;

const toCallbackGroup = (host: string): number => fingerprint(host).charCodeAt(0) % CALLBACK_GROUPS;

const CALLBACK_GROUPS = 4;

const callAddress = async (
  world: World,
  leased: LeasedDelivery,
  { address, webhook }: DeliveryRecipient,
): Promise<void> => {
  const { attempts: before, triedSince } = leased.delivery;
  const startedAt = world.now().toISOString();
  const { verdict, fields } = await sendDelivery(world, address, leased.delivery);
  const attempted = {
    ...fields,
    attempts: before + 1,
    waits: 0,
    triedSince: triedSince ?? startedAt,
    lastTriedAt: startedAt,
  };
  if (verdict.kind === "failed") {
    const next = getNextAttempt(
      { attempts: attempted.attempts, triedSince: new Date(attempted.triedSince) },
      { now: world.now(), random: world.random, earliestMs: verdict.earliestMs },
    );
    await (next
      ? scheduleRetry(world, leased, attempted, next)
      : endDelivery(world, leased, "failed", attempted));
  } else
    await endDelivery(world, leased, verdict.kind === "gone" ? "failed" : "delivered", attempted);
  if (!webhook) return;
  await (verdict.kind === "delivered"
    ? recordSuccess(world, webhook)
    : recordFailure(world, webhook, verdict.kind));
};

const endDelivery = async (
  world: World,
  leased: LeasedDelivery,
  status: "delivered" | "failed",
  fields: Fields,
): Promise<void> => {
  await storeDelivery(world, leased, { ...fields, ...UNSCHEDULED, nextTryAt: undefined, status });
};

const deferDelivery = (world: World, leased: LeasedDelivery): Promise<void> => {
  const { waits } = leased.delivery;
  const next = addMs(world.now(), getSlotWaitMs(waits, world.random));
  return scheduleRetry(world, leased, { waits: waits + 1 }, next);
};

/** The delivery is due a little after its message, in case the message is lost. */
const GRACE_MS = 60_000;
const MESSAGE_DELAY_MAX_MS = 15 * 60_000;

const scheduleRetry = async (
  world: World,
  leased: LeasedDelivery,
  fields: Fields,
  next: Date,
): Promise<void> => {
  const delayMs = next.getTime() - world.now().getTime();
  const isByMessage = delayMs <= MESSAGE_DELAY_MAX_MS;
  const token = world.newId("txn");
  const isStored = await storeDelivery(world, leased, {
    ...fields,
    token,
    nextTryAt: next.toISOString(),
    due_sk: addMs(next, isByMessage ? GRACE_MS : 0).toISOString(),
  });
  const { id, owner } = leased.delivery;
  const messages = [{ id, token, owner }];
  if (isStored && isByMessage) await sendWakeUps(world, DELIVERIES_QUEUE, messages, delayMs);
};

/** False when the lease is lost, because it expired or the owner requested a retry. */
const storeDelivery = async (
  world: World,
  { delivery, token }: LeasedDelivery,
  set: Fields,
): Promise<boolean> => {
  const { outcome } = await commit(world, {
    proof: null,
    also: [{ update: toDeliveryKey(delivery.id), set, where: { token } }],
  });
  return outcome === "committed";
};

export const deliveryWork: WorkKind = {
  kind: DELIVERY,
  repair: repairDelivery,
  // The last attempt is a day after the first, and the reconciler waits another minute for its message.
  longestWaitMs: RETRY_WINDOW_MS + MINUTE_MS,
  deferredUntil: (item) => item["nextTryAt"],
};
