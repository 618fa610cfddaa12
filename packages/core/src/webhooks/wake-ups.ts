import * as v from "valibot";
import { toQueueGroup } from "../money/payer.ts";
import { DELAY_SECONDS_MAX, type Message, type QueueConfig } from "../ports/queue.ts";
import type { World } from "../ports/world.ts";

// Messages that start scheduled work at once; without them the reconciler finds the work within a minute. A message contains
// the token of the state that it was sent for. When it arrives twice or late, the token differs and the worker ignores it.

const WakeUp = v.object({ id: v.string(), token: v.string() });
export type WakeUp = Readonly<v.InferOutput<typeof WakeUp>>;
export const readWakeUp = (body: unknown): WakeUp => v.parse(WakeUp, body);

/** A fan-out takes milliseconds, so a short visibility timeout suffices. */
export const EVENTS_QUEUE: QueueConfig = {
  name: "events",
  visibilitySeconds: 60,
  receivesMax: 5,
  concurrency: 10,
};

/** A delivery waits up to ten seconds for a response and uses little of the thread. */
export const DELIVERIES_QUEUE: QueueConfig = {
  name: "deliveries",
  visibilitySeconds: 60,
  receivesMax: 5,
  concurrency: 64,
  concurrencyWhenBusy: 64,
};

/** Ignores a failure: the reconciler finds work whose message was not sent. */
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
