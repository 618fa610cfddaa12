import { announce } from "@mailproof/core/webhooks/items";
import { expect, test } from "vitest";
import { given, givenKey } from "../given.ts";
import type { House } from "../jobs.ts";
import { send } from "../send.ts";
import { deliveriesIn, whenSubscribed } from "../webhooks.ts";
import { whenReconciled, whenWorked } from "../working.ts";

const ROUTE = "GET /v1/webhooks/whk_1/deliveries";

/** Something happened, in this world and no other. */
const whenAnnounced = async (house: House, owner = house.account): Promise<void> => {
  const data = { account_id: house.account, available: 5, threshold: 10 };
  const written = await house.table.transact([announce(house.world, owner, "credits.low", data)]);
  expect(written.outcome).toBe("committed");
  house.later(31_000);
  await whenReconciled(house);
  await whenWorked(house);
};

test("what became of each delivery is 200, newest first", async () => {
  const house = await given();
  await whenSubscribed(house);
  await whenAnnounced(house);
  house.servers.answer(503);
  await whenAnnounced(house);

  const { statusCode, data } = await send(house.world, ROUTE, { key: house.liveKey });

  expect(statusCode).toBe(200);
  expect(data.deliveries).toEqual([
    {
      id: "dlv_2",
      event_id: "evt_2",
      event: "credits.low",
      status: "pending",
      attempts: 1,
      response_status: 503,
      latency_ms: 0,
      error: "status",
      created_at: "2026-11-21T00:01:02.000Z",
      last_attempt_at: "2026-11-21T00:01:02.000Z",
      next_attempt_at: expect.stringMatching(/^2026-11-21T00:01:/),
    },
    {
      id: "dlv_1",
      event_id: "evt_1",
      event: "credits.low",
      status: "delivered",
      attempts: 1,
      response_status: 200,
      latency_ms: 0,
      error: null,
      created_at: "2026-11-21T00:00:31.000Z",
      last_attempt_at: "2026-11-21T00:00:31.000Z",
      next_attempt_at: null,
    },
  ]);
});

test("the last hundred are shown, and what happened to test keys goes to their webhooks alone", async () => {
  const house = await given();
  await whenSubscribed(house);
  await whenSubscribed(house, { key: house.testKey });
  for (let n = 0; n < 101; n++) await whenAnnounced(house);
  await whenAnnounced(house, `${house.account}~test`);

  const shown = await deliveriesIn(house);

  expect(shown).toHaveLength(100);
  expect(shown[0].event_id).toBe("evt_101");
  expect(shown.at(-1).event_id).toBe("evt_2");
  expect(await deliveriesIn(house, "whk_2", house.testKey)).toMatchObject([
    { event_id: "evt_102" },
  ]);
});

test("a webhook that is not there is 404", async () => {
  const house = await given();
  await whenSubscribed(house);

  expect((await send(house.world, ROUTE, { key: house.testKey })).statusCode).toBe(404);
});

test("no key is 401, a key for something else is 403, an unknown parameter is 400", async () => {
  const { world, account, liveKey: key } = await given();
  const writer = await givenKey(world, account, { scopes: ["webhooks:write"] });

  expect((await send(world, ROUTE)).statusCode).toBe(401);
  expect((await send(world, ROUTE, { key: writer })).statusCode).toBe(403);
  expect((await send(world, ROUTE, { key, query: { limit: "5" } })).statusCode).toBe(400);
});
