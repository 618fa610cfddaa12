import * as v from "valibot";
import { queuedFor } from "../access/payer.ts";
import { DELAY_SECONDS_MAX, type Message, type QueueFacts } from "../queue.ts";
import type { World } from "../world.ts";

// What is due is found each minute; a message only makes it sooner. It names the state that it was sent for: when
// it comes twice, or after somebody else, it finds another token and changes nothing.

const Call = v.object({ id: v.string(), token: v.string() });
export type Call = Readonly<v.InferOutput<typeof Call>>;
export const readCall = (body: unknown): Call => v.parse(Call, body);

/** Who is to be told is found out in moments. */
export const EVENTS_QUEUE: QueueFacts = {
  name: "events",
  visibilitySeconds: 60,
  receivesMax: 5,
  atOnce: 10,
};

/** A call to somebody who may take ten seconds to answer, and nothing to do meanwhile. */
export const DELIVERIES_QUEUE: QueueFacts = {
  name: "deliveries",
  visibilitySeconds: 60,
  receivesMax: 5,
  atOnce: 64,
  evenWhenBusy: 64,
};

/** Best effort: whoever looks for what is due finds what is not sent. */
export const callFor = async (
  { queue }: Pick<World, "queue">,
  { name }: QueueFacts,
  calls: readonly (Call & { readonly owner: string })[],
  delayMs = 0,
): Promise<void> => {
  const delaySeconds = Math.min(DELAY_SECONDS_MAX, Math.ceil(delayMs / 1_000));
  const messages: Message[] = calls.map(({ id, token, owner }) => ({
    body: { id, token },
    delaySeconds,
    ...queuedFor(owner),
  }));
  if (messages.length > 0) await queue.sendMany(name, messages).catch(() => undefined);
};
