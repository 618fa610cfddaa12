import { emitEvent } from "@mailproof/core/webhooks/items";
import { WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { Webhook } from "standardwebhooks";
import { onTestFinished, vi } from "vitest";
import { whenMinutesPass, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import type { ReceivedCall } from "../app/https.ts";
import { send, type TestResponse } from "../app/send.ts";
import type { TestContext } from "./jobs.ts";

// What the stories of webhooks have in common.

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const HOOK = "https://hooks.example.com/in";

export const whenSubscribed = (
  { world, liveKey }: Pick<TestContext, "world" | "liveKey">,
  { key = liveKey, url = HOOK, events = WEBHOOK_EVENT_TYPES as readonly string[] } = {},
): Promise<TestResponse> => send(world, "POST /v1/webhooks", { key, body: { url, events } });

export const readDeliveries = async (
  { world, liveKey }: Pick<TestContext, "world" | "liveKey">,
  id = "whk_1",
  key = liveKey,
): Promise<any[]> =>
  (await send(world, `GET /v1/webhooks/${id}/deliveries`, { key })).data.deliveries;

/** The body of a call, to those who know the secret; throws for everyone else. Libraries look at the real clock. */
export const verifyCall = (secret: string, { headers, body, at }: ReceivedCall): any => {
  vi.useFakeTimers({ toFake: ["Date"], now: at });
  onTestFinished(() => void vi.useRealTimers());
  return new Webhook(secret).verify(body ?? "", headers);
};

export const parseEvents = (calls: readonly ReceivedCall[]): any[] =>
  calls.map(({ body }) => JSON.parse(body ?? "") as unknown);

/** An outbox event of which the workers were not notified. */
export const whenEventEmitted = async (
  { world, table, account }: TestContext,
  owner = account,
): Promise<void> => {
  const data = { account_id: account, available: 5, threshold: 10 };
  await table.transact([emitEvent(world, owner, "credits.low", data)]);
};

/** What is due now is done now. */
export const whenScheduledWorkRuns = async (ctx: TestContext): Promise<void> => {
  await whenReconciled(ctx);
  await whenWorked(ctx);
};

/** So long, with a look each minute. */
export const whenPassed = async (ctx: TestContext, ms: number): Promise<void> => {
  await whenMinutesPass(ctx, ms / 60_000);
};

export const givenHook = async (events?: readonly string[]) => {
  const ctx = await given({ balance: 10 });
  const { data } = await whenSubscribed(ctx, events ? { events } : {});
  return { ...ctx, secret: data.secret as string };
};

export const readWebhook = async ({ world, liveKey: key }: TestContext) =>
  (await send(world, "GET /v1/webhooks", { key })).data.webhooks[0];
