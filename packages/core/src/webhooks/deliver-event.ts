import { fingerprint } from "../lib/fingerprint.ts";
import { addMs, CLOCK_SKEW_MS, getWindowStart, MINUTE_MS } from "../lib/time.ts";
import { toQueueGroup } from "../money/payer.ts";
import type { Fields, Item, Where } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { acquireLease, readScheduledWork, UNSCHEDULED } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import type { Worker } from "../runtime/worker.ts";
import {
  DELIVERY,
  type Delivery,
  readDelivery,
  toDeliveryItem,
  toDeliveryKey,
  toSlotsKey,
  toWebhookKey,
  type Webhook,
} from "./items.ts";
import {
  DISABLED_AFTER_MS,
  getNextAttempt,
  getSlotWaitMs,
  RETRY_WINDOW_MS,
} from "./retry-policy.ts";
import { type DeliveryAddress, sendDelivery } from "./send.ts";
import { DELIVERIES_QUEUE, readWakeUp, sendWakeUps } from "./wake-ups.ts";
import { findWebhook } from "./webhooks.ts";

// Delivers one event to one URL until the delivery succeeds or a day has passed. It sends the event before it stores the
// result, so the event may arrive twice and is never lost.

// Records the health of a webhook by its deliveries. Ignores a failed write: the next attempt records the state.

const recordSuccess = async (
  { table }: World,
  { failingSince, ...webhook }: Webhook,
): Promise<void> => {
  if (failingSince === undefined) return;
  const where = { failingSince };
  await table
    .write({ update: toWebhookKey(webhook), set: { failingSince: undefined }, where })
    .catch(() => undefined);
};

const recordFailure = async (
  world: World,
  webhook: Webhook,
  kind: "gone" | "failed",
): Promise<void> => {
  const { failingSince } = webhook;
  const now = world.now();
  if (kind === "gone") return disableWebhook(world, webhook, "gone", {});
  // A wrong clock wrote a `failingSince` in the future, which would disable the webhook too late.
  const isRecorded =
    failingSince !== undefined && new Date(failingSince) <= addMs(now, CLOCK_SKEW_MS);
  if (!isRecorded) {
    const where: Where = { failingSince: failingSince ?? { missing: true }, url: webhook.url };
    const set = { failingSince: now.toISOString() };
    await world.table.write({ update: toWebhookKey(webhook), set, where }).catch(() => undefined);
  } else if (now >= addMs(new Date(failingSince), DISABLED_AFTER_MS))
    await disableWebhook(world, webhook, "failing", { failingSince });
};

const DISABLED_MESSAGES = {
  gone: "The server answered 410 Gone.",
  failing: "All deliveries failed for five days.",
};

/** Disables the webhook once, with an entry in its delivery log. The table refuses this if the owner changed the URL meanwhile. */
const disableWebhook = async (
  world: World,
  webhook: Webhook,
  reason: keyof typeof DISABLED_MESSAGES,
  where: Where,
): Promise<void> => {
  const now = world.now();
  const { outcome } = await world.table.transact([
    {
      update: toWebhookKey(webhook),
      set: { status: "disabled", disabledBecause: reason },
      where: { status: "active", url: webhook.url, ...where },
    },
    { create: toDeliveryItem(createDisabledNote(world, webhook, DISABLED_MESSAGES[reason]), now) },
  ]);
  if (outcome === "committed") world.log("webhook_disabled", { webhook: webhook.id, reason });
};

const createDisabledNote = (
  world: World,
  { id: webhook, owner }: Webhook,
  why: string,
): Delivery => ({
  id: world.newId("dlv"),
  owner,
  webhook,
  event: world.newId("evt"),
  type: "webhook.disabled",
  body: "",
  status: "noted",
  createdAt: world.now().toISOString(),
  attempts: 0,
  waits: 0,
  error: why,
});

// Limits the concurrent calls to one URL. A URL that hangs occupies only its own slots; a URL whose calls all fail has a single
// slot until a call succeeds again.

const SLOTS = 8;
const SLOTS_WHILE_FAILING = 1;

/**
 * A slot counts in the half-minute in which it was acquired, and a call takes far less. So a slot that a crash left expires
 * with its window. The cost: up to twice as many calls at the boundary of two windows.
 */
const WINDOW_SECONDS = 30;

type DeliverySlot = { readonly concurrencyKey: string; readonly window: number };

const acquireSlot = async (
  { table, now }: Pick<World, "table" | "now">,
  concurrencyKey: string,
  isFailing: boolean,
): Promise<DeliverySlot | undefined> => {
  const window = getWindowStart(now(), WINDOW_SECONDS);
  const { outcome } = await table.write({
    update: toSlotsKey(concurrencyKey, window),
    add: { n: 1 },
    bounds: { n: { atMost: isFailing ? SLOTS_WHILE_FAILING : SLOTS } },
    set: { expires_at: window + 2 * WINDOW_SECONDS },
    orCreate: true,
  });
  // After a lost reply, at worst an unused slot is counted for half a minute.
  return outcome === "refused" ? undefined : { concurrencyKey, window };
};

/** Ignores a failure: a slot that is not released expires with its window. */
const releaseSlot = async (
  { table }: Pick<World, "table">,
  { concurrencyKey, window }: DeliverySlot,
): Promise<void> => {
  await table
    .write({
      update: toSlotsKey(concurrencyKey, window),
      add: { n: -1 },
      bounds: { n: { atLeast: 0 } },
    })
    .catch(() => undefined);
};

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
 * An account's callbacks share slots by group, and a hash puts each callback server into a group. An account that sends each
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
