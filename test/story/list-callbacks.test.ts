import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  givenUpload,
  type TestContext,
  whenBatched,
  whenFiled,
} from "../things/jobs.ts";
import { HOOK, readDeliveries, whenScheduledWorkRuns, whenSubscribed } from "../things/webhooks.ts";

const listCallbacks = ({ world, liveKey: key }: TestContext, id = "job_1") =>
  send(world, `GET /v1/jobs/${id}/callbacks`, { key });

/** A batch that is not done yet, with a webhook_url. */
const givenBatch = async (body: object = { webhook_url: HOOK }) => {
  const ctx = await given({ balance: 100 });
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(2), ...body });
  return ctx;
};

test("the callback log of a batch's callback lists each attempt with the server's response", async () => {
  const ctx = await givenBatch();
  ctx.servers.answer(503);
  await whenWorked(ctx);
  const failing = await listCallbacks(ctx);
  ctx.servers.answer(200);
  ctx.later(60_000);
  await whenScheduledWorkRuns(ctx);

  const { statusCode, data } = await listCallbacks(ctx);

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

test("the callback log of a file's callback lists its delivery", async () => {
  const ctx = await given({ balance: 100 });
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(2)));
  await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey, { webhook_url: HOOK }));
  await whenWorked(ctx);

  expect((await listCallbacks(ctx)).data).toMatchObject({
    webhook_url: HOOK,
    deliveries: [{ event: "job.completed", status: "delivered", attempts: 1 }],
  });
});

test("the callback log lists no callback before the job's end or without a webhook_url", async () => {
  const ctx = await givenBatch();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(2) });

  const running = await listCallbacks(ctx);
  await whenWorked(ctx);
  const without = await listCallbacks(ctx, "job_2");

  expect(running.data).toEqual({ webhook_url: HOOK, deliveries: [] });
  expect(without.data).toEqual({ deliveries: [] });
});

test("a subscribed webhook keeps its own log, which omits the callback", async () => {
  const ctx = await givenBatch();
  await whenSubscribed(ctx);
  await whenWorked(ctx);

  const callbacks = (await listCallbacks(ctx)).data.deliveries;
  const subscribed = await readDeliveries(ctx);

  expect([callbacks.length, subscribed.length]).toEqual([1, 1]);
  expect(callbacks[0].id).not.toBe(subscribed[0].id);
  expect(callbacks[0].event_id).toBe(subscribed[0].event_id);
});
