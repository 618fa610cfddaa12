import { expect, test } from "vitest";
import { given, givenKey } from "../given.ts";
import { movesOf } from "../ledger.ts";
import { send } from "../send.ts";
import { whenReconciled, whenWorked } from "../working.ts";

const DAY_MS = 86_400_000;

const givenMonitor = async () => {
  const house = await given({ balance: 50 });
  const { world, liveKey: key } = house;
  const added = await send(world, "POST /v1/deliverability/monitors", {
    key,
    body: { domain: "example.com" },
  });
  return { ...house, id: String(added.data.monitor_id) };
};

test("200: it is watched no longer, and nothing more is charged", async () => {
  const house = await givenMonitor();
  const { world, liveKey: key, id } = house;
  await whenWorked(house);

  const removed = await send(world, `DELETE /v1/deliverability/monitors/${id}`, { key });
  house.later(2 * DAY_MS);
  await whenReconciled(house);
  await whenWorked(house);

  expect(removed).toMatchObject({ statusCode: 200, data: { monitor_id: id, deleted: true } });
  expect(movesOf(house)).toEqual(["hold 10", "settle 10"]);
});

test("a run whose message is under way when the monitor is removed does not happen", async () => {
  const house = await givenMonitor();
  const { world, liveKey: key, id } = house;
  await send(world, `DELETE /v1/deliverability/monitors/${id}`, { key });
  await whenWorked(house);

  expect(movesOf(house)).toEqual([]);
});

test("another's monitor is 404 in the words of one that is not there, and so is one removed before", async () => {
  const { world, liveKey, testKey, id } = await givenMonitor();
  const remove = (key: string, which = id) =>
    send(world, `DELETE /v1/deliverability/monitors/${which}`, { key });

  const told = [await remove(testKey), await remove(liveKey, "mon_none")];
  expect((await remove(liveKey)).statusCode).toBe(200);
  told.push(await remove(liveKey));

  expect(told.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404]);
  expect(new Set(told.map(({ error }) => JSON.stringify(error))).size).toBe(1);
});

test("a query parameter is 400", async () => {
  const { world, liveKey: key, id } = await givenMonitor();
  const route = `DELETE /v1/deliverability/monitors/${id}`;

  expect((await send(world, route, { key, query: { force: "1" } })).statusCode).toBe(400);
});

test("no key is 401, a key without the scope 403, and too many requests 429", async () => {
  const { world, account, liveKey, id } = await givenMonitor();
  const route = `DELETE /v1/deliverability/monitors/${id}`;
  const reader = await givenKey(world, account, { scopes: ["deliverability:read"] });
  const full = async () => ({ allowed: false, limit: 1, remaining: 0, resetAt: 0 });

  const told = [
    await send(world, route),
    await send(world, route, { key: reader }),
    await send({ ...world, rateLimit: full }, route, { key: liveKey }),
  ];

  expect(told.map(({ statusCode }) => statusCode)).toEqual([401, 403, 429]);
});
