import { completeIfDone } from "@mailproof/core/jobs/completion";
import { toJobKey } from "@mailproof/core/jobs/items";
import { expect, test } from "vitest";
import { withTable } from "../../faulty-worlds.ts";
import { listOutboxEvents } from "../../ledger.ts";
import { readStoredJob, setupMessages } from "./working-chunks.ts";

/** A job of five addresses of which so much is known. */
const givenCounts = async (set: Readonly<Record<string, number | string>>) => {
  const ctx = await setupMessages();
  await ctx.table.write({ update: toJobKey("job_1"), set });
  return ctx;
};

test.each([
  ["nothing is done", "processing", {}],
  ["one address is missing", "processing", { processed: 4, valid: 4 }],
  ["all is done", "completed", { processed: 5, valid: 5 }],
  ["the rest was given back", "completed", { processed: 3, valid: 3, refunded: 2 }],
  ["the rest is lost", "completed", { processed: 5, valid: 3, unknown: 2, lost: 2 }],
  ["all is lost", "failed", { processed: 5, unknown: 5, lost: 5 }],
  ["all was given back", "failed", { refunded: 5 }],
  ["all is lost or was given back", "failed", { processed: 2, unknown: 2, lost: 2, refunded: 3 }],
  ["all is done and its money is open", "processing", { processed: 5, valid: 5, unsettled: 1 }],
])("when %s the job is %s", async (_case, status, counts) => {
  const ctx = await givenCounts(counts);

  const isDone = await completeIfDone(ctx.world, "job_1");

  expect(isDone).toBe(status !== "processing");
  expect((await readStoredJob(ctx)).status).toBe(status);
  expect(listOutboxEvents(ctx)).toEqual(isDone ? [`job.${status}`] : []);
});

test("a job that is done is nobody's work any more, and its record is kept for a year", async () => {
  const ctx = await givenCounts({ processed: 5, valid: 5 });

  await completeIfDone(ctx.world, "job_1");

  const item = ctx.table.items().find(({ sk }) => sk === "JOB");
  expect(item).not.toHaveProperty("due_pk");
  expect(item).toMatchObject({ completedAt: "2026-11-21T00:00:00.000Z" });
  expect(item?.expires_at).toBe(Date.UTC(2027, 10, 21) / 1000);
});

test("however many hands find it done at once, it is told once", async () => {
  const ctx = await givenCounts({ processed: 5, valid: 5 });

  const found = await Promise.all(
    Array.from({ length: 10 }, () => completeIfDone(ctx.world, "job_1")),
  );

  expect(found).toEqual(Array(10).fill(true));
  expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
});

test.each([
  ["completed", { status: "completed" }],
  ["failed", { status: "failed" }],
])("a job that is %s already is done, and nothing is told", async (_case, set) => {
  const ctx = await givenCounts({ ...set, processed: 5, valid: 5 });

  expect(await completeIfDone(ctx.world, "job_1")).toBe(true);
  expect(listOutboxEvents(ctx)).toEqual([]);
});

test("a job that is not there is done", async () => {
  const { world } = await setupMessages();

  expect(await completeIfDone(world, "job_9")).toBe(true);
});

test("no reply to the end is an error, so that somebody looks again; then it is told once", async () => {
  const ctx = await givenCounts({ processed: 5, valid: 5 });
  const transact = async (writes: Parameters<typeof ctx.table.transact>[0]) => {
    await ctx.table.transact(writes);
    return { outcome: "ambiguous" as const };
  };

  // The second try of the same hand finds that the job is over: whoever it was, it is done.
  await completeIfDone(withTable(ctx, { transact }), "job_1").catch(() => undefined);
  await completeIfDone(ctx.world, "job_1");

  expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
  await expect(
    completeIfDone(
      withTable(await givenCounts({ processed: 5, valid: 5 }), {
        transact: async () => ({ outcome: "ambiguous" }),
      }),
      "job_1",
    ),
  ).rejects.toThrow("unknown whether the job was ended");
});
