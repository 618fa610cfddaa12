import { expect, test } from "vitest";
import { given } from "../given.ts";
import { send } from "../send.ts";

const ROUTE = "GET /v1/deliverability/monitors";

test("200: the account's own monitors, newest first", async () => {
  const { world, liveKey, testKey, later } = await given({ balance: 10 });
  for (const [key, domain] of [
    [liveKey, "a.com"],
    [liveKey, "b.com"],
    [testKey, "c.com"],
  ] as const) {
    await send(world, "POST /v1/deliverability/monitors", { key, body: { domain } });
    later(1_000);
  }

  const { statusCode, data } = await send(world, ROUTE, { key: liveKey });

  expect(statusCode).toBe(200);
  expect(data.monitors.map(({ domain }: { domain: string }) => domain)).toEqual(["b.com", "a.com"]);
});
