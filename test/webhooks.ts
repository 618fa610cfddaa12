import { announce } from "@mailproof/core/webhooks/items";
import { EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { Webhook } from "standardwebhooks";
import { onTestFinished, vi } from "vitest";
import { given } from "./given.ts";
import type { Heard } from "./https.ts";
import type { House } from "./jobs.ts";
import { send, type Told } from "./send.ts";
import { whenReconciled, whenWorked } from "./working.ts";

// What the stories of webhooks have in common.

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

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

/** Something that is to be told, and nobody has said so to the workers. */
export const whenAnnounced = async (
  { world, table, account }: House,
  owner = account,
): Promise<void> => {
  const data = { account_id: account, available: 5, threshold: 10 };
  await table.transact([announce(world, owner, "credits.low", data)]);
};

/** What is due now is done now. */
export const whenDue = async (house: House): Promise<void> => {
  await whenReconciled(house);
  await whenWorked(house);
};

/** So long, with a look each minute. */
export const whenPassed = async (house: House, ms: number): Promise<void> => {
  const until = house.world.now().getTime() + ms;
  while (house.world.now().getTime() < until) {
    house.later(60_000);
    await whenDue(house);
  }
};

export const givenHook = async (events?: readonly string[]) => {
  const house = await given({ balance: 10 });
  const { data } = await whenSubscribed(house, events ? { events } : {});
  return { ...house, secret: data.secret as string };
};

export const hookIn = async ({ world, liveKey: key }: House) =>
  (await send(world, "GET /v1/webhooks", { key })).data.webhooks[0];
