import { toJobItem, toJobKey } from "@mailproof/core/jobs/items";
import { assertWithinPlan, buildNewJobWrites, type NewJob } from "@mailproof/core/jobs/new-job";
import type { PlanId } from "@mailproof/core/money/plans";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../../drain-queues.ts";
import { givenWorld, START } from "../../given.ts";
import { createEmails, givenChunked, whenBatched } from "../../jobs.ts";
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

test("a job and the offsets of its chunks can only be created, never replaced, and the job is due within a minute", () => {
  const { world } = givenWorld();

  const writes = buildNewJobWrites(world, made);

  expect(writes).toMatchObject([
    { create: { ...toJobKey("job_1"), status: "processing", total: 5, unsettled: 1, held: 0 } },
    { create: { pk: "JOB#job_1", sk: "INPUT", chunks: [0, 10, 20, 30], columns: ["name"] } },
  ]);
  expect(writes[0]).toMatchObject({ create: { due_sk: "2026-11-21T00:01:00.000Z" } });
});

test("the jobs of a test key are listed apart", () => {
  const { world } = givenWorld();
  const payer = { ...payerOn("pro"), mode: "test" as const };

  expect(buildNewJobWrites(world, { ...made, payer })).toMatchObject([
    { create: { list_pk: "JOBS#acc_1~test" } },
    {},
  ]);
});

test("half a million addresses in chunks of 500 fit one item of offsets", async () => {
  const { world, table } = givenWorld();
  const chunks = Array.from({ length: 1_001 }, (_row, n) => n * 60_000);

  const written = await table.transact(
    buildNewJobWrites(world, { ...made, chunks, unique: 500_000 }),
  );

  expect(written.outcome).toBe("committed");
});

test("a job of which every chunk is unresolved fits its item, too", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(1) });
  const unresolved = Array.from({ length: 1_000 }, (_row, n) => n);

  const written = await ctx.table.write({
    put: toJobItem({ ...(await readStoredJob(ctx)), unresolved, unsettled: 1_000 }),
  });

  expect(written.outcome).toBe("committed");
});

test("the reconciler looks after an hour at a job whose messages were all sent, and after a minute at any other", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(1) });
  ctx.later(60_000);
  await whenReconciled(ctx);
  const pending = ctx.queue.pending();
  await whenWorked(ctx);

  expect(pending).toBe(1);
  expect((await readStoredJob(ctx)).status).toBe("completed");
});
