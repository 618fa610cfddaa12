import type { AppWorld } from "@mailproof/core/app-world";
import { assertWithinPlan, buildNewJobWrites, type NewJob } from "@mailproof/core/lists/new-job";
import type { PlanId } from "@mailproof/core/money/plans";
import type { Message } from "@mailproof/core/ports/queue";
import { toJobItem, toJobKey } from "@mailproof/core/rows/items";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../../app/drain-queues.ts";
import { givenWorld, START } from "../../app/given.ts";
import { whenVerified } from "../../app/send.ts";
import {
  createEmails,
  givenChunked,
  type TestContext,
  whenBatched,
  whenProcessed,
} from "../../things/jobs.ts";
import { givenHook, whenEventEmitted } from "../../things/webhooks.ts";
import { readStoredJob } from "./working-chunks.ts";

const payerOn = (plan: PlanId) => ({ account: "acc_1", mode: "live" as const, plan });

const made: NewJob = {
  id: "job_1",
  kind: "file",
  payer: payerOn("pro"),
  reason: "verify_batch",
  name: null,
  options: { deepVerify: true, includeAi: true },
  callback: null,
  input: { key: "inputs/job_1.jsonl", version: "v1", bytes: 30 },
  chunks: [0, 10, 20, 30],
  checksums: [],
  chunkRows: 2,
  columns: ["name"],
  emailColumn: { name: "email", at: 1 },
  isAscii: true,
  delimiter: ",",
  excluded: null,
  unique: 5,
  domains: [],
  createdAt: START,
  unsettled: 1,
  claim: null,
  shard: 0,
  countedIn: undefined,
};

test.each<[PlanId, number, number]>([
  ["free", 1_000, 7],
  ["pro", 100_000, 30],
  ["scale", 500_000, 90],
])(
  "the plan %s allows %i addresses in one job, and stores results for %i days",
  (plan, most, days) => {
    const { world } = givenWorld();
    const payer = payerOn(plan);

    expect(() => assertWithinPlan(payer, most)).not.toThrow();
    expect(() => assertWithinPlan(payer, most + 1)).toThrow(
      `The plan ${plan} allows ${most.toLocaleString("en")} addresses in one job. Nothing was charged.`,
    );
    expect(buildNewJobWrites(world, { ...made, payer })).toMatchObject([
      { create: { retentionSeconds: days * 86_400 } },
      {},
    ]);
  },
);

test("a new job and its chunks' offsets replace no item, and the job is due within a minute", () => {
  const { world } = givenWorld();

  const writes = buildNewJobWrites(world, made);

  expect(writes).toMatchObject([
    { create: { ...toJobKey("job_1"), status: "processing", total: 5, unsettled: 1, held: 0 } },
    { create: { pk: "JOB#job_1", sk: "INPUT", chunks: [0, 10, 20, 30], columns: ["name"] } },
  ]);
  expect(writes[0]).toMatchObject({ create: { due_sk: "2026-11-21T00:01:00.000Z" } });
});

test("half a million addresses in chunks of 500 fit one item of offsets", async () => {
  const { world, table } = givenWorld();
  const chunks = Array.from({ length: 1_001 }, (_row, n) => n * 60_000);

  const written = await table.transact(
    buildNewJobWrites(world, { ...made, chunks, unique: 500_000 }),
  );

  expect(written.outcome).toBe("committed");
});

test("the item of a job fits its limit even when every chunk is unresolved", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(1) });
  const unresolved = Array.from({ length: 1_000 }, (_row, n) => n);

  const written = await ctx.table.write({
    put: toJobItem({ ...(await readStoredJob(ctx)), unresolved, unsettled: 1_000 }),
  });

  expect(written.outcome).toBe("committed");
});

test("the reconciler checks a job after an hour when all messages were sent, and otherwise after a minute", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(1) });
  ctx.later(60_000);
  await whenReconciled(ctx);
  const pending = ctx.queue.pending();
  await whenWorked(ctx);

  expect(pending).toBe(1);
  expect((await readStoredJob(ctx)).status).toBe("completed");
});

// The group of each message: the queues can be fair to accounts only if messages name their account.

type Noting = { readonly world: AppWorld; readonly sent: (queue: string) => readonly Message[] };

/** The same world, and every message that was sent in it. */
const recordSent = (world: AppWorld): Noting => {
  const all: (readonly [string, Message])[] = [];
  const sendMany: AppWorld["queue"]["sendMany"] = (name, messages) => {
    all.push(...messages.map((message) => [name, message] as const));
    return world.queue.sendMany(name, messages);
  };
  return {
    world: { ...world, queue: { ...world.queue, sendMany } },
    sent: (queue) => all.filter(([name]) => name === queue).map(([, message]) => message),
  };
};

const getShare = ({ group, weight, order, isLowPriority: isLast }: Message) => ({
  group,
  weight,
  order,
  isLowPriority: isLast,
});

const ways: readonly [string, (ctx: TestContext, emails: readonly string[]) => Promise<unknown>][] =
  [
    ["a batch", ({ world, liveKey }, emails) => whenBatched(world, liveKey, { emails })],
    ["a file", (ctx, emails) => whenProcessed(ctx, emails)],
  ];

test.each(ways)(
  "the queue message of %s carries its account, its rows and its size",
  async (_case, whenSent) => {
    const ctx = await givenChunked({ rows: 2 });
    const { world, sent } = recordSent(ctx.world);

    await whenSent({ ...ctx, world }, createEmails(5));

    const share = { group: ctx.account, order: 5, isLowPriority: false };
    expect(sent("chunks").map(getShare)).toEqual([
      { ...share, weight: 2 },
      { ...share, weight: 2 },
      { ...share, weight: 1 },
    ]);
  },
);

test("the queue message of a test key's job carries the same account and a low priority", async () => {
  const ctx = await givenChunked({ rows: 2 });
  const { world, sent } = recordSent(ctx.world);

  await whenBatched(world, ctx.testKey, { emails: createEmails(1) });

  expect(sent("chunks").map(getShare)).toEqual([
    { group: ctx.account, weight: 1, order: 1, isLowPriority: true },
  ]);
});

test("the queue message of a later attempt carries its number of rows, not the chunk's", async () => {
  const ctx = await givenChunked({ rows: 5 });
  await whenBatched(ctx.world, ctx.liveKey, { emails: [...createEmails(4), "greylisted@x.com"] });
  await whenWorked(ctx);
  const { world, sent } = recordSent(ctx.world);
  ctx.later(6 * 60_000);

  await whenReconciled({ world });

  expect(sent("chunks").map(getShare)).toEqual([
    { group: ctx.account, weight: 1, order: 1, isLowPriority: false },
  ]);
});

test("the queue message of a verification that continues in the background carries its account", async () => {
  const ctx = await givenChunked({ rows: 5 });
  const { world, sent } = recordSent(ctx.world);

  await whenVerified(world, ctx.liveKey, { email: "slow@x.com" });

  expect(sent("singles").map(getShare)).toMatchObject([
    { group: ctx.account, isLowPriority: false },
  ]);
});

test("the queue messages of an event's deliveries carry its account", async () => {
  const ctx = await givenHook();
  const { world, sent } = recordSent(ctx.world);
  await whenEventEmitted({ ...ctx, world });

  await whenWorked({ ...ctx, world });
  ctx.later(60_000);
  await whenReconciled({ world });
  await whenWorked({ ...ctx, world });

  const groups = [...sent("events"), ...sent("deliveries")].map(({ group }) => group);
  expect(sent("deliveries").length).toBeGreaterThan(0);
  expect(new Set(groups)).toEqual(new Set([ctx.account]));
});
