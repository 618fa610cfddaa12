import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { given, givenKey } from "../given.ts";
import {
  anns,
  csvOf,
  givenUpload,
  type House,
  processOf,
  whenBatched,
  whenFiled,
} from "../jobs.ts";
import { send } from "../send.ts";
import { deliveriesIn, HOOK, whenDue, whenSubscribed } from "../webhooks.ts";
import { whenWorked } from "../working.ts";

const ROUTE = "GET /v1/jobs/job_1/callbacks";

const callbacksIn = ({ world, liveKey: key }: House, id = "job_1") =>
  send(world, `GET /v1/jobs/${id}/callbacks`, { key });

/** A batch that is not done yet, whose end its sender wants to be told. */
const givenBatch = async (body: object = { webhook_url: HOOK }) => {
  const house = await given({ balance: 100 });
  await whenBatched(house.world, house.liveKey, { emails: anns(2), ...body });
  return house;
};

test("what became of a batch's callback is 200: each try, with the server's response", async () => {
  const house = await givenBatch();
  house.servers.answer(503);
  await whenWorked(house);
  const failing = await callbacksIn(house);
  house.servers.answer(200);
  house.later(60_000);
  await whenDue(house);

  const { statusCode, data } = await callbacksIn(house);

  expect(failing.data.deliveries).toMatchObject([
    { event: "job.completed", status: "pending", attempts: 1, response_status: 503 },
  ]);
  expect(statusCode).toBe(200);
  expect(data).toMatchObject({
    webhook_url: HOOK,
    deliveries: [
      {
        id: "dlv_1",
        event_id: "evt_1",
        event: "job.completed",
        status: "delivered",
        attempts: 2,
        response_status: 200,
      },
    ],
  });
});

test("a file's callback has its log, too", async () => {
  const house = await given({ balance: 100 });
  const fileKey = await givenUpload(house, house.liveKey, csvOf(anns(2)));
  await whenFiled(house.world, house.liveKey, processOf(fileKey, { webhook_url: HOOK }));
  await whenWorked(house);

  expect((await callbacksIn(house)).data).toMatchObject({
    webhook_url: HOOK,
    deliveries: [{ event: "job.completed", status: "delivered", attempts: 1 }],
  });
});

test("before the job ends, and for one without a webhook_url, there is none", async () => {
  const house = await givenBatch();
  await whenBatched(house.world, house.liveKey, { emails: anns(2) });

  const running = await callbacksIn(house);
  await whenWorked(house);
  const without = await callbacksIn(house, "job_2");

  expect(running.data).toEqual({ webhook_url: HOOK, deliveries: [] });
  expect(without.data).toEqual({ deliveries: [] });
});

test("a webhook that subscribed has its own log, and a callback is not in it", async () => {
  const house = await givenBatch();
  await whenSubscribed(house);
  await whenWorked(house);

  const callbacks = (await callbacksIn(house)).data.deliveries;
  const subscribed = await deliveriesIn(house);

  expect([callbacks.length, subscribed.length]).toEqual([1, 1]);
  expect(callbacks[0].id).not.toBe(subscribed[0].id);
  expect(callbacks[0].event_id).toBe(subscribed[0].event_id);
});

test("another account's job, and that of a test key, are 404 in the words of one that never was", async () => {
  const house = await givenBatch();
  await whenWorked(house);
  const bo = await openAccount(house.world, { name: "Bo", plan: "pro", opening: credits(0) });

  const refused = [
    await send(house.world, ROUTE, { key: bo.liveKey }),
    await send(house.world, ROUTE, { key: house.testKey }),
    await callbacksIn(house, "job_99"),
  ];

  expect(refused.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404]);
  expect(new Set(refused.map(({ error }) => error.message)).size).toBe(1);
});

test("no key is 401, a key without verification:read is 403, an unknown parameter is 400", async () => {
  const { world, account, liveKey: key } = await givenBatch();
  const reader = await givenKey(world, account, { scopes: ["verification:read"] });
  const writer = await givenKey(world, account, { scopes: ["verification:write"] });

  expect((await send(world, ROUTE)).statusCode).toBe(401);
  expect((await send(world, ROUTE, { key: writer })).statusCode).toBe(403);
  expect((await send(world, ROUTE, { key: reader })).statusCode).toBe(200);
  expect((await send(world, ROUTE, { key, query: { limit: "5" } })).statusCode).toBe(400);
});
