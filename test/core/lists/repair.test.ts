import { jobWork } from "@mailproof/core/lists/repair-job";
import type { Item } from "@mailproof/core/ports/table";
import { toChunkKey } from "@mailproof/core/rows/chunks";
import { toJobKey } from "@mailproof/core/rows/items";
import { expect, test } from "vitest";
import { whenWorked } from "../../app/drain-queues.ts";
import { type Fate, withMessageFates } from "../../app/faulty-worlds.ts";
import { listMoves, listOutboxEvents, readCredits, thenConsistent } from "../../app/ledger.ts";
import { createEmails, givenChunked, type TestContext, whenProcessed } from "../../things/jobs.ts";
import { readStoredJob, receiveAll, setupMessages } from "./working-chunks.ts";

const MINUTE_MS = 60_000;

const findItem = (ctx: TestContext): Item => {
  const item = ctx.table.items().find(({ sk }) => sk === "JOB");
  if (!item) throw new Error("there is no job");
  return item;
};

/** A file of chunks of one address, each with this outcome. */
const givenFates = async (fates: readonly Fate[]) => {
  const ctx = await givenChunked({ rows: 1 });
  const world = withMessageFates(ctx, (chunk) => fates[chunk] ?? "sent");
  await whenProcessed({ ...ctx, world }, createEmails(fates.length));
  return ctx;
};

test("the reconciler leaves a job with progress alone for another hour", async () => {
  const ctx = await setupMessages();
  await ctx.queue.sendMany("chunks", [{ body: ctx.messages[0] ?? null }]);
  await whenWorked(ctx);

  const done = await jobWork.repair(ctx.world, findItem(ctx));

  expect(done).toBe("goes_on");
  expect(ctx.queue.pending()).toBe(0);
  expect(findItem(ctx)).toMatchObject({ seen: 2, due_sk: "2026-11-21T01:00:00.000Z" });
});

test("the reconciler sends unfinished chunks again when their job stops", async () => {
  const ctx = await setupMessages();
  await ctx.queue.sendMany("chunks", [{ body: ctx.messages[1] ?? null }]);
  await whenWorked(ctx);
  await jobWork.repair(ctx.world, findItem(ctx));

  const done = await jobWork.repair(ctx.world, findItem(ctx));

  expect(done).toBe("sent_again");
  expect(await receiveAll(ctx)).toEqual([ctx.messages[0], ctx.messages[2]]);
});

test("a chunk whose rows wait for a server does not count as stuck", async () => {
  const ctx = await setupMessages(["greylisted@x.com", "ann@x.com"]);
  await ctx.queue.sendMany("chunks", [{ body: ctx.messages[0] ?? null }]);
  await whenWorked(ctx);
  await jobWork.repair(ctx.world, findItem(ctx));

  await jobWork.repair(ctx.world, findItem(ctx));

  expect(ctx.queue.pending()).toBe(0);
});

test("the reconciler completes a job whose last worker crashed before the completion", async () => {
  const ctx = await setupMessages();
  await ctx.table.write({ update: toJobKey("job_1"), add: { processed: 5, valid: 5 } });

  expect(await jobWork.repair(ctx.world, findItem(ctx))).toBe("completed");
  expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
});

test("the reconciler sends chunks again that the queue may lack, and settles each by its own entry", async () => {
  const ctx = await givenFates(["unknown", "sent", "unheard"]);

  const done = await jobWork.repair(ctx.world, findItem(ctx));

  expect(done).toBe("resolved");
  expect(await readStoredJob(ctx)).toMatchObject({
    status: "processing",
    unsettled: 0,
    unresolved: [],
    held: 0,
    refunds: { no_result: 0 },
  });
  expect(listMoves(ctx)).toEqual(["settle 1", "settle 1", "hold 3", "settle 1"]);
  await thenConsistent(ctx);
});

test("the reconciler settles nothing, and retries each minute, while the queue does not confirm a message", async () => {
  const ctx = await givenFates(["unknown", "sent"]);
  const lossy = withMessageFates(ctx, () => "unheard");

  const done = await jobWork.repair(lossy, findItem(ctx));

  expect(done).toBe("partly_resolved");
  expect(findItem(ctx)).toMatchObject({ unresolved: [0], due_sk: "2026-11-21T00:01:00.000Z" });
  expect(await readCredits(ctx)).toMatchObject({ held: 1, spent: 1 });
});

test("the worker of the last chunk settles a finished chunk that the queue never confirmed", async () => {
  const ctx = await givenFates(["unheard", "sent"]);

  await whenWorked(ctx);

  expect(await readStoredJob(ctx)).toMatchObject({ status: "completed", held: 0 });
  await thenConsistent(ctx);
});

test("the reconciler retries for an hour, then refunds the chunk, and no worker verifies the chunk later", async () => {
  const ctx = await givenFates(["unheard", "sent"]);
  const lossy = withMessageFates(ctx, () => "refused");
  ctx.later(60 * MINUTE_MS);
  const before = await jobWork.repair(lossy, findItem(ctx));
  ctx.later(1);

  const after = await jobWork.repair(lossy, findItem(ctx));
  await whenWorked(ctx);

  expect([before, after]).toEqual(["partly_resolved", "resolved"]);
  expect(await readStoredJob(ctx)).toMatchObject({
    status: "completed",
    processed: 1,
    refunds: { no_result: 1 },
  });
  expect(await ctx.table.get(toChunkKey("job_1", 0))).toMatchObject({ outcome: "refunded" });
  expect(await readCredits(ctx)).toMatchObject({ available: 99, held: 0, spent: 1, refunded: 1 });
  await thenConsistent(ctx);
});

test("the reconciler resolves at most fifty chunks at a time, and a larger number in several runs", async () => {
  const ctx = await givenFates([...Array<Fate>(70).fill("unknown"), "sent"]);

  const looks = [
    await jobWork.repair(ctx.world, findItem(ctx)),
    (await readStoredJob(ctx)).unresolved.length,
    await jobWork.repair(ctx.world, findItem(ctx)),
  ];

  expect(looks).toEqual(["partly_resolved", 20, "resolved"]);
  await thenConsistent(ctx);
});

test("a reconciler that finds another fencing token on the job moves no credits", async () => {
  const ctx = await givenFates(["unknown", "sent"]);
  const stale = findItem(ctx);
  await ctx.table.write({ update: toJobKey("job_1"), set: { token: "another" } });
  const before = listMoves(ctx);

  await expect(jobWork.repair(ctx.world, stale)).rejects.toThrow("was not resolved: refused");

  expect(listMoves(ctx)).toEqual(before);
});
