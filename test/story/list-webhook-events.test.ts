import { expect, test } from "vitest";
import { given, givenKey } from "../given.ts";
import { send } from "../send.ts";

const ROUTE = "GET /v1/webhooks/events";

test("the names of all events are 200", async () => {
  const { world, liveKey: key } = await given();

  expect(await send(world, ROUTE, { key })).toMatchObject({
    statusCode: 200,
    data: {
      events: [
        "job.completed",
        "job.failed",
        "credits.low",
        "credits.depleted",
        "blacklist.detected",
        "dmarc.failed",
        "dmarc.ready",
      ],
    },
  });
});

test("no key is 401, a key for something else is 403, an unknown parameter is 400", async () => {
  const { world, account, liveKey: key } = await given();
  const other = await givenKey(world, account, { scopes: ["account:read"] });

  expect((await send(world, ROUTE)).statusCode).toBe(401);
  expect((await send(world, ROUTE, { key: other })).statusCode).toBe(403);
  expect((await send(world, ROUTE, { key, query: { x: "1" } })).statusCode).toBe(400);
});
