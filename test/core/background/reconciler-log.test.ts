import { reconcile } from "@mailproof/core/background/reconciler";
import { scheduleWork } from "@mailproof/core/runtime/leases";
import { expect, test } from "vitest";
import { given, START } from "../../app/given.ts";
import { send } from "../../app/send.ts";
import { givenChunked, whenBatched } from "../../things/jobs.ts";
import {
  givenHook,
  HOUR_MS,
  readWebhook,
  whenEventEmitted,
  whenPassed,
  whenScheduledWorkRuns,
} from "../../things/webhooks.ts";

// A line "repaired" tells the operator that something broke. Work that runs at its planned time writes none.

type TestContext = Awaited<ReturnType<typeof given>>;

const listRepairs = ({ logged }: Pick<TestContext, "logged">) =>
  logged.filter(({ event }) => event === "repaired").map(({ fields }) => fields);

test("a webhook whose receiver is down for hours is retried without a line", async () => {
  const ctx = await givenHook();
  ctx.servers.answer(500);
  await whenEventEmitted(ctx);
  ctx.later(30_000);
  await whenScheduledWorkRuns(ctx);
  ctx.logged.length = 0;

  await whenPassed(ctx, 12 * HOUR_MS);

  expect(ctx.servers.received.length).toBeGreaterThan(5);
  expect(await readWebhook(ctx)).toMatchObject({ status: "active" });
  expect(listRepairs(ctx)).toEqual([]);
});

test("a monitor that runs each day writes no line; one whose message was lost writes one", async () => {
  const ctx = await given({ balance: 100 });
  const body = { domain: "example.com" };
  const { statusCode } = await send(ctx.world, "POST /v1/deliverability/monitors", {
    key: ctx.liveKey,
    body,
  });
  await whenPassed(ctx, 25 * HOUR_MS);
  const ordinary = listRepairs(ctx);

  const world = { ...ctx.world, queue: { ...ctx.world.queue, sendMany: async () => ["sent"] } };
  ctx.later(24 * HOUR_MS);
  await reconcile.run(world as never);
  const planned = listRepairs(ctx);
  ctx.later(6 * 60_000);
  await reconcile.run(ctx.world);

  expect([statusCode, ordinary, planned]).toEqual([201, [], []]);
  expect(listRepairs(ctx)).toMatchObject([{ kind: "monitor" }]);
});

test("a check of a job with progress writes no line", async () => {
  const ctx = await givenChunked({ rows: 4 });
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["a@x.com", "b@x.com", "c@x.com"] });
  await ctx.table.write({
    update: { pk: "JOB#job_1", sk: "JOB" },
    set: { processed: 1 },
  });
  ctx.later(HOUR_MS);

  await reconcile.run(ctx.world);

  expect(listRepairs(ctx)).toEqual([]);
});

test("rows that wait for their planned time write no line; the same rows after a lost message write one", async () => {
  const ctx = await given({ balance: 10 });
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["a@x.com", "b@x.com"] });
  const waiting = {
    pk: "CHUNKS#job_1",
    sk: "00000",
    job: "job_1",
    chunk: 0,
    outcome: "done",
    rows: 1,
    waiting: 1,
    from: 0,
    to: 1,
    checksum: 0,
    pass0: "txn_0",
    retryAt: START.toISOString(),
    ...scheduleWork("chunk", "job_1", START, "txn_0"),
  };
  await ctx.table.write({ create: waiting });

  await reconcile.run(ctx.world);
  const planned = listRepairs(ctx);
  ctx.later(20 * 60_000);
  await reconcile.run(ctx.world);

  expect(planned).toEqual([]);
  expect(listRepairs(ctx)).toMatchObject([{ kind: "chunk", done: "sent_again" }]);
});
