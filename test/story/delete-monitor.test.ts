import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../drain-queues.ts";
import { given } from "../given.ts";
import { listMoves } from "../ledger.ts";
import { send } from "../send.ts";

const DAY_MS = 86_400_000;

const givenMonitor = async () => {
  const ctx = await given({ balance: 50 });
  const { world, liveKey: key } = ctx;
  const added = await send(world, "POST /v1/deliverability/monitors", {
    key,
    body: { domain: "example.com" },
  });
  return { ...ctx, id: String(added.data.monitor_id) };
};

test("200: it is watched no longer, and nothing more is charged", async () => {
  const ctx = await givenMonitor();
  const { world, liveKey: key, id } = ctx;
  await whenWorked(ctx);

  const removed = await send(world, `DELETE /v1/deliverability/monitors/${id}`, { key });
  ctx.later(2 * DAY_MS);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(removed).toMatchObject({ statusCode: 200, data: { monitor_id: id, deleted: true } });
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

test("a run whose message is under way when the monitor is removed does not happen", async () => {
  const ctx = await givenMonitor();
  const { world, liveKey: key, id } = ctx;
  await send(world, `DELETE /v1/deliverability/monitors/${id}`, { key });
  await whenWorked(ctx);

  expect(listMoves(ctx)).toEqual([]);
});

test("another's monitor is 404 in the words of one that is not there, and so is one removed before", async () => {
  const { world, liveKey, testKey, id } = await givenMonitor();
  const remove = (key: string, which = id) =>
    send(world, `DELETE /v1/deliverability/monitors/${which}`, { key });

  const response = [await remove(testKey), await remove(liveKey, "mon_none")];
  expect((await remove(liveKey)).statusCode).toBe(200);
  response.push(await remove(liveKey));

  expect(response.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404]);
  expect(new Set(response.map(({ error }) => JSON.stringify(error))).size).toBe(1);
});
