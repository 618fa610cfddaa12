import * as v from "valibot";
import { toQueueGroup } from "../accounts/payer.ts";
import { DELAY_SECONDS_MAX, type Message, type QueueConfig } from "../ports/queue.ts";
import type { World } from "../ports/world.ts";

// What is due is found each minute; a message only makes it sooner. It names the state that it was sent for: when
// it comes twice, or after somebody else, it finds another token and changes nothing.

const WakeUp = v.object({ id: v.string(), token: v.string() });
export type WakeUp = Readonly<v.InferOutput<typeof WakeUp>>;
export const readWakeUp = (body: unknown): WakeUp => v.parse(WakeUp, body);

/** Who is to be told is found out in moments. */
export const EVENTS_QUEUE: QueueConfig = {
  name: "events",
  visibilitySeconds: 60,
  receivesMax: 5,
  concurrency: 10,
};

/** A call to somebody who may take ten seconds to answer, and nothing to do meanwhile. */
export const DELIVERIES_QUEUE: QueueConfig = {
  name: "deliveries",
  visibilitySeconds: 60,
  receivesMax: 5,
  concurrency: 64,
  concurrencyWhenBusy: 64,
};

/** Best effort: whoever looks for what is due finds what is not sent. */
export const sendWakeUps = async (
  { queue }: Pick<World, "queue">,
  { name }: QueueConfig,
  wakeUps: readonly (WakeUp & { readonly owner: string })[],
  delayMs = 0,
): Promise<void> => {
  const delaySeconds = Math.min(DELAY_SECONDS_MAX, Math.ceil(delayMs / 1_000));
  const messages: Message[] = wakeUps.map(({ id, token, owner }) => ({
    body: { id, token },
    delaySeconds,
    ...toQueueGroup(owner),
  }));
  if (messages.length > 0) await queue.sendMany(name, messages).catch(() => undefined);
};
