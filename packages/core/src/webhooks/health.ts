import { addMs, CLOCK_SKEW_MS } from "../lib/time.ts";
import type { Where } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type Delivery, toDeliveryItem, toWebhookKey, type Webhook } from "./items.ts";
import { DISABLED_AFTER_MS } from "./retry-policy.ts";

// Records the health of a webhook by its deliveries. Ignores a failed write: the next attempt records the state.

export const recordSuccess = async (
  { table }: World,
  { failingSince, ...webhook }: Webhook,
): Promise<void> => {
  if (failingSince === undefined) return;
  const where = { failingSince };
  await table
    .write({ update: toWebhookKey(webhook), set: { failingSince: undefined }, where })
    .catch(() => undefined);
};

export const recordFailure = async (
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
