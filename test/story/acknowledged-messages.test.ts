import { ACTIVITY_QUEUE } from "@mailproof/core/activity/ingest";
import { workers } from "@mailproof/core/background/workers";
import { NoCapacityError } from "@mailproof/core/verify/engine";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled } from "../app/drain-queues.ts";
import { given, START } from "../app/given.ts";
import { listMoves, listStoredItems, readCredits, thenConsistent } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import { createEmails, type TestContext, whenBatched } from "../things/jobs.ts";
import { parseEvents, whenEventEmitted, whenPassed, whenSubscribed } from "../things/webhooks.ts";

// While no live session is open, SST's bridge acknowledges what the queues hand to it (docs/operating.md): messages are
// gone, and no worker has handled them. Work that is also due in the table is done all the same.

const whenBridgeAcknowledges = async ({ queue }: Pick<TestContext, "queue">): Promise<number> => {
  let count = 0;
  for (const worker of workers)
    for (;;) {
      const received = await queue.receive(worker.queue, { waitMs: 0 });
      if (received.length === 0) break;
      for (const { receipt } of received) await queue.acknowledge(receipt);
      count += received.length;
    }
  return count;
};

test("a verification that became a job is done five minutes later, and paid for once", async () => {
  const ctx = await given({ balance: 10 });
  const probe = () => Promise.reject(new NoCapacityError("all of them are at work"));
  const busy = { ...ctx.world, engine: { ...ctx.world.engine, probe } };
  const { data } = await whenVerified(busy, ctx.liveKey, { email: "ann@x.com" });
  expect(await whenBridgeAcknowledges(ctx)).toBe(1);

  expect(await whenQuiet(ctx)).toBeLessThanOrEqual(10);

  const job = await send(ctx.world, `GET /v1/jobs/${data.job_id}`, { key: ctx.liveKey });
  expect(job.data).toMatchObject({ status: "completed" });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
  await thenConsistent(ctx);
});

test("a list is done within two hours, and paid for once", async () => {
  const ctx = await given({ balance: 10 });
  const { data } = await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(5) });
  expect(await whenBridgeAcknowledges(ctx)).toBeGreaterThan(0);

  expect(await whenQuiet(ctx)).toBeLessThanOrEqual(120);

  const job = await send(ctx.world, `GET /v1/jobs/${data.job_id}`, { key: ctx.liveKey });
  expect(job.data).toMatchObject({ status: "completed" });
  expect(await readCredits(ctx)).toMatchObject({ available: 5, held: 0 });
  await thenConsistent(ctx);
});

test("an event reaches its webhook within minutes, though the message of its delivery is gone", async () => {
  const ctx = await given({ balance: 10 });
  await whenSubscribed(ctx);
  await whenEventEmitted(ctx);
  ctx.later(60_000);
  await whenReconciled(ctx);
  expect(await whenBridgeAcknowledges(ctx)).toBe(1);

  await whenPassed(ctx, 5 * 60_000);

  expect(parseEvents(ctx.servers.received).map(({ type }) => type)).toEqual(["credits.low"]);
});

test("a monitor runs as soon as a worker runs again", async () => {
  const ctx = await given({ balance: 10 });
  const key = ctx.liveKey;
  await send(ctx.world, "POST /v1/deliverability/monitors", { key, body: { domain: "x.com" } });
  expect(await whenBridgeAcknowledges(ctx)).toBe(1);

  await whenPassed(ctx, 60_000);

  const { data } = await send(ctx.world, "GET /v1/deliverability/monitors", { key });
  expect(data.monitors[0].last_check).not.toBeNull();
});

test("the activity that Amazon SES reported is lost: nothing else has it", async () => {
  const ctx = await given();
  const mail = {
    messageId: "0100",
    timestamp: START.toISOString(),
    destination: ["ann@x.com"],
    tags: { mailproof_account: [ctx.account] },
  };
  const delivery = { timestamp: START.toISOString(), recipients: ["ann@x.com"] };
  const before = listStoredItems(ctx).length;
  await ctx.queue.sendMany(ACTIVITY_QUEUE.name, [
    { body: { eventType: "Delivery", mail, delivery } },
  ]);
  expect(await whenBridgeAcknowledges(ctx)).toBe(1);

  await whenPassed(ctx, 60 * 60_000);

  expect(listStoredItems(ctx)).toHaveLength(before);
});
