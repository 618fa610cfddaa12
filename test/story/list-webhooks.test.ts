import { expect, test } from "vitest";
import { given } from "../given.ts";
import { send } from "../send.ts";
import { HOOK, whenSubscribed } from "../webhooks.ts";

const ROUTE = "GET /v1/webhooks";

test("the webhooks are 200, oldest first, without their secrets", async () => {
  const ctx = await given();
  const { world, liveKey, later } = ctx;
  const first = await whenSubscribed(ctx, { events: ["job.completed"] });
  later(1_000);
  await whenSubscribed(ctx, { url: "https://b.example.com/" });

  const { statusCode, data, text } = await send(world, ROUTE, { key: liveKey });

  expect(statusCode).toBe(200);
  expect(data.webhooks.map(({ id }: any) => id)).toEqual(["whk_1", "whk_2"]);
  expect(data.webhooks[0]).toEqual({
    id: "whk_1",
    url: HOOK,
    events: ["job.completed"],
    status: "active",
    created_at: "2026-11-21T00:00:00.000Z",
  });
  expect(text).not.toContain(first.data.secret);
  expect(text).not.toContain("whsec_");
});
