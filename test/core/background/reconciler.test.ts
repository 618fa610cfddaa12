import { reconcile } from "@mailproof/core/background/reconciler";
import { beginOperation } from "@mailproof/core/money/begin-operation";
import { credits } from "@mailproof/core/money/credits";
import { SCHEDULE_PARTITIONS, scheduleWork } from "@mailproof/core/runtime/leases";
import { describe, expect, test } from "vitest";
import { withDnsLookups } from "../../app/dns-lookups.ts";
import { whenWorked } from "../../app/drain-queues.ts";
import { rejectDown, withTable } from "../../app/faulty-worlds.ts";
import { given, givenWorld, START } from "../../app/given.ts";
import { listMoves, listStoredItems, readCredits } from "../../app/ledger.ts";
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

const LEASE_MS = 10_000;
const MINUTE_MS = 60_000;

/** So many verifications that were paid for and abandoned. */
const givenAbandoned = async (count: number) => {
  const ctx = await given({ balance: count });
  const { world, account, later } = ctx;
  const payer = { account, mode: "live" as const, plan: "pro" as const };
  for (let n = 0; n < count; n++) {
    const id = world.newId("job");
    const kind = "verify";
    const order = {
      id,
      kind,
      payer,
      reason: "deliverability_check" as const,
      idempotencyKey: null,
      leaseMs: LEASE_MS,
    };
    const options = { deepVerify: true, includeAi: true, includeEvidence: false };
    const input = { email: `ann${n}@x.com`, ...options, retentionSeconds: 86_400 };
    await beginOperation(world, order, async () => ({
      price: credits(1),
      input,
      expectedMs: 10_000,
    }));
  }
  later(LEASE_MS);
  return ctx;
};

const listRepairs = ({ logged }: Pick<Awaited<ReturnType<typeof given>>, "logged">) =>
  logged.filter(({ event }) => event === "repaired").map(({ fields }) => fields["done"]);

const rubbish = (n: number) => ({
  pk: `RUBBISH#${n}`,
  sk: "RUBBISH",
  ...scheduleWork("verify", `job_${n}`, START, "t"),
});

test("the reconciler changes nothing before an item's due time", async () => {
  const ctx = await givenAbandoned(0);
  await ctx.table.write({ create: { ...rubbish(1), due_sk: "2026-11-21T00:00:10.001Z" } });
  const before = listStoredItems(ctx);

  await reconcile.run(ctx.world);

  expect(listStoredItems(ctx)).toEqual(before);
  expect(ctx.logged).toEqual([]);
});

test("two concurrent reconcilers do each piece of work once", async () => {
  const ctx = await givenAbandoned(20);

  await Promise.all([reconcile.run(ctx.world), reconcile.run(ctx.world)]);

  expect(listRepairs(ctx)).toEqual(Array(20).fill("went_on_as_job"));
  expect(ctx.logged).toHaveLength(20);
  // And two events: the balance ran low, and out.
  expect(ctx.queue.pending()).toBe(20 + 2);
  await whenWorked(ctx);
  expect(listMoves(ctx).toSorted()).toEqual([
    ...Array(20).fill("hold 1"),
    ...Array(20).fill("settle 1"),
  ]);
});

test("an item that the reconciler cannot repair delays no other, appears in the log, and waits for its lease", async () => {
  const ctx = await givenAbandoned(20);
  for (let n = 0; n < 20; n++) await ctx.table.write({ create: rubbish(n) });

  await reconcile.run(ctx.world);
  const failed = ctx.logged.filter(({ event }) => event === "repair_failed");
  await reconcile.run(ctx.world);

  expect(listRepairs(ctx)).toHaveLength(20);
  expect(failed).toHaveLength(20);
  expect(ctx.logged.filter(({ event }) => event === "repair_failed")).toHaveLength(20);
  ctx.later(5 * MINUTE_MS);
  await reconcile.run(ctx.world);
  expect(ctx.logged.filter(({ event }) => event === "repair_failed")).toHaveLength(40);
});

test("an item that waits for slow name servers delays only the items behind it in its partition", async () => {
  const ctx = await given({ balance: 10 });
  const { account, world, later, table } = ctx;
  const payer = { account, mode: "live" as const, plan: "pro" as const };
  // Its partition is the first that the reconciler reads.
  const order = {
    id: "chk_3",
    kind: "check",
    payer,
    reason: "deliverability_check" as const,
    idempotencyKey: null,
  };
  const input = { domain: "example.com", sendingIp: null, retentionDays: 31 };
  const prepare = async () => ({ price: credits(10), input, expectedMs: 10_000 });
  await beginOperation(world, { ...order, leaseMs: LEASE_MS }, prepare);
  for (const [n, due_pk] of SCHEDULE_PARTITIONS.entries())
    await table.write({ create: { ...rubbish(n), due_pk } });
  later(LEASE_MS);
  const startedAt = world.now();
  const slow = withDnsLookups(world, async () => {
    await world.sleep(5_000);
    return { kind: "timeout" };
  });
  const times: Date[] = [];

  await reconcile.run({ ...slow, log: () => times.push(world.now()) });

  expect(times).toHaveLength(1 + SCHEDULE_PARTITIONS.length);
  expect(times.slice(0, SCHEDULE_PARTITIONS.length - 1)).toEqual(
    Array(SCHEDULE_PARTITIONS.length - 1).fill(startedAt),
  );
});

test("the reconciler logs the name of an unknown kind of work", async () => {
  const { world, table, logged } = givenWorld();
  await table.write({ create: { ...rubbish(1), due_kind: "teleport" } });

  await reconcile.run(world);

  expect(logged).toMatchObject([
    {
      event: "repair_failed",
      fields: { kind: "teleport", cause: { message: "no repair for work of kind teleport" } },
    },
  ]);
});

test("one run of the reconciler handles a limited number of items, and several runs handle more", async () => {
  const { world, table, logged } = givenWorld();
  for (let n = 0; n < 250; n++)
    await table.write({ create: { ...rubbish(n), due_pk: "DUE#0", due_kind: "teleport" } });
  const looked = [];

  for (let run = 0; run < 4; run++) {
    await reconcile.run(world);
    looked.push(logged.length);
  }

  expect(looked).toEqual([100, 200, 250, 250]);
});

test("items that a crashed run had claimed are due again after the lease", async () => {
  const ctx = await givenAbandoned(1);
  await reconcile.run(withTable(ctx, { transact: rejectDown }));
  const meanwhile = listRepairs(ctx);
  await reconcile.run(ctx.world);
  const early = listRepairs(ctx);
  ctx.later(5 * MINUTE_MS);

  await reconcile.run(ctx.world);
  await whenWorked(ctx);

  expect([meanwhile, early]).toEqual([[], []]);
  expect(await readCredits(ctx)).toMatchObject({ held: 0, spent: 1 });
});

describe("the reconciler's log", () => {
  // A line "repaired" tells the operator that something broke. Work that runs at its planned time writes none.

  type TestContext = Awaited<ReturnType<typeof given>>;

  const listRepairs = ({ logged }: Pick<TestContext, "logged">) =>
    logged.filter(({ event }) => event === "repaired").map(({ fields }) => fields);

  test("the reconciler logs no line for retries to a webhook whose receiver is down for hours", async () => {
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

  test("the reconciler logs no line for a daily monitor, and one line for a monitor whose message was lost", async () => {
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

  test("the reconciler logs no line for its check of a job with progress", async () => {
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

  test("the reconciler logs no line for rows before their planned time, and one line for rows whose message was lost", async () => {
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
});
