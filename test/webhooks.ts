import { EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { Webhook } from "standardwebhooks";
import { onTestFinished, vi } from "vitest";
import type { Heard } from "./https.ts";
import type { House } from "./jobs.ts";
import { send, type Told } from "./send.ts";

// What the stories of webhooks have in common.

export const HOOK = "https://hooks.example.com/in";

export const whenSubscribed = (
  { world, liveKey }: Pick<House, "world" | "liveKey">,
  { key = liveKey, url = HOOK, events = EVENT_TYPES as readonly string[] } = {},
): Promise<Told> => send(world, "POST /v1/webhooks", { key, body: { url, events } });

export const deliveriesIn = async (
  { world, liveKey }: Pick<House, "world" | "liveKey">,
  id = "whk_1",
  key = liveKey,
): Promise<any[]> =>
  (await send(world, `GET /v1/webhooks/${id}/deliveries`, { key })).data.deliveries;

/** What a call said, to whoever knows the secret; throws for everybody else. Libraries look at the real clock. */
export const opened = (secret: string, { headers, body, at }: Heard): any => {
  vi.useFakeTimers({ toFake: ["Date"], now: at });
  onTestFinished(() => void vi.useRealTimers());
  return new Webhook(secret).verify(body ?? "", headers);
};

export const eventsTold = (heard: readonly Heard[]): any[] =>
  heard.map(({ body }) => JSON.parse(body ?? "") as unknown);
