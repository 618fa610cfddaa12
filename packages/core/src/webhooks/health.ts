import { CLOCK_SKEW_MS, inMs } from "../moments.ts";
import type { Where } from "../table.ts";
import type { World } from "../world.ts";
import { type Delivery, deliveryItem, type Webhook, webhookKey } from "./items.ts";
import { DISABLED_AFTER_MS } from "./policy.ts";

// How an address does, as its deliveries show. Best effort: what is not noted now the next try will note.

export const noteArrived = async (
  { table }: World,
  { failingSince, ...webhook }: Webhook,
): Promise<void> => {
  if (failingSince === undefined) return;
  const where = { failingSince };
  await table
    .write({ update: webhookKey(webhook), set: { failingSince: undefined }, where })
    .catch(() => undefined);
};

export const noteFailed = async (
  world: World,
  webhook: Webhook,
  how: "gone" | "failed",
): Promise<void> => {
  const { failingSince } = webhook;
  const now = world.now();
  if (how === "gone") return disable(world, webhook, "gone", {});
  // A failure that is still to come was noted by a wrong clock: it would end no sooner than five days after.
  const isNoted = failingSince !== undefined && new Date(failingSince) <= inMs(now, CLOCK_SKEW_MS);
  if (!isNoted) {
    const where: Where = { failingSince: failingSince ?? { missing: true }, url: webhook.url };
    const set = { failingSince: now.toISOString() };
    await world.table.write({ update: webhookKey(webhook), set, where }).catch(() => undefined);
  } else if (now >= inMs(new Date(failingSince), DISABLED_AFTER_MS))
    await disable(world, webhook, "failing", { failingSince });
};

const WHY = {
  gone: "The address answered 410: it wants no more events.",
  failing: "Every delivery to the address has failed for five days.",
};

/** Once, with its line among the deliveries. Not where its owner gave it another address meanwhile. */
const disable = async (
  world: World,
  webhook: Webhook,
  because: keyof typeof WHY,
  where: Where,
): Promise<void> => {
  const now = world.now();
  const { outcome } = await world.table.transact([
    {
      update: webhookKey(webhook),
      set: { status: "disabled", disabledBecause: because },
      where: { status: "active", url: webhook.url, ...where },
    },
    { create: deliveryItem(noteOf(world, webhook, WHY[because]), now) },
  ]);
  if (outcome === "committed") world.log("webhook_disabled", { webhook: webhook.id, because });
};

const noteOf = (world: World, { id: webhook, owner }: Webhook, why: string): Delivery => ({
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
