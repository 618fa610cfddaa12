import { addMs, CLOCK_SKEW_MS } from "../lib/time.ts";
import type { Where } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type Delivery, toDeliveryItem, toWebhookKey, type Webhook } from "./items.ts";
import { DISABLED_AFTER_MS } from "./retry-policy.ts";

// How an address does, as its deliveries show. Best effort: what is not noted now the next try will note.

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
  // A failure that is still to come was noted by a wrong clock: it would end no sooner than five days after.
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
  gone: "The address answered 410: it wants no more events.",
  failing: "Every delivery to the address has failed for five days.",
};

/** Once, with its line among the deliveries. Not where its owner gave it another address meanwhile. */
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
