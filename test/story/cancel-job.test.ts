import type { Write } from "@mailproof/core/ports/table";
import { findJob } from "@mailproof/core/rows/items";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { withMessageFates, withTable } from "../app/faulty-worlds.ts";
import { listMoves, listOutboxEvents, readCredits, thenConsistent } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  formatRows,
  givenChunked,
  givenUpload,
  readJob,
  type TestContext,
  whenBatched,
  whenFiled,
  whenProcessed,
} from "../things/jobs.ts";

const MINUTE_MS = 60_000;

const whenCancelled = (
  { world, liveKey }: Pick<TestContext, "world" | "liveKey">,
  id = "job_1",
  key = liveKey,
) => send(world, `POST /v1/jobs/${id}/cancel`, { key });

/** The results of a job whose rows do not all wait. */
const givenWaitingBatch = async () => {
  const ctx = await givenChunked();
  const emails = ["ann@x.com", "greylisted@x.com", "greylisted+2@x.com"];
  await whenBatched(ctx.world, ctx.liveKey, { emails });
  await whenWorked(ctx);
  return ctx;
};

const isCancelling = (write: Write) => "update" in write && write.set?.["status"] === "cancelled";

test("cancelling a batch that has not begun answers 200 and refunds every row", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(5) });

  const response = await whenCancelled(ctx);
  await whenWorked(ctx);

  expect(response).toMatchObject({
    statusCode: 200,
    data: {
      job_id: "job_1",
      status: "cancelled",
      progress: { total: 5, processed: 0 },
      credits_refunded: 5,
      completed_at: expect.any(String),
    },
  });
  expect(listMoves(ctx)).toEqual(["refund 5", "charge 5"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 100, refunded: 5 });
  expect((await readJob(ctx)).results).toBeUndefined();
  await thenConsistent(ctx);
});

test("cancelling a job charges rows with a result, keeps them readable, and refunds waiting rows", async () => {
  const ctx = await givenWaitingBatch();

  const { data } = await whenCancelled(ctx);
  await whenQuiet(ctx);

  expect(data).toMatchObject({ status: "cancelled", credits_refunded: 2 });
  expect(data.deferred).toBeUndefined();
  expect(formatRows(await readJob(ctx))).toEqual(["1 ann@x.com valid"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 99, spent: 1, held: 0 });
  await thenConsistent(ctx);
});

test("a cancelled job leaves no deferred row after the time of its next attempt", async () => {
  const ctx = await givenWaitingBatch();
  await whenCancelled(ctx);

  await whenQuiet(ctx);

  const left = ctx.table.items().filter(({ pk, due_pk }) => pk.startsWith("DEFERRED#") || due_pk);
  expect(left).toEqual([]);
});

test("a job cancelled twice or by two requests at once returns one response and refunds once", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(5) });

  const responses = [
    ...(await Promise.all([whenCancelled(ctx), whenCancelled(ctx)])),
    await whenCancelled(ctx),
  ];

  expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect(new Set(responses.map(({ data }) => JSON.stringify(data))).size).toBe(1);
  expect(listMoves(ctx)).toEqual(["refund 5", "charge 5"]);
});

test("cancelling a slow verification releases its credit and removes its stored address", async () => {
  const ctx = await givenChunked();
  const body = { email: "slow@x.com", options: { timeout_ms: 100 } };
  const { data: pending } = await whenVerified(ctx.world, ctx.liveKey, body);

  const { data } = await whenCancelled(ctx, pending.job_id);
  await whenWorked(ctx);

  expect(data).toMatchObject({ kind: "single", status: "cancelled", credits_refunded: 1 });
  expect(await readCredits(ctx)).toMatchObject({ available: 100, held: 0 });
  expect((await findJob(ctx.table, pending.job_id))?.single).toBeUndefined();
  await thenConsistent(ctx);
});

test("cancelling a file job releases the credits of addresses whose dispatch is ambiguous", async () => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(5)));
  const fates = ["sent", "unknown", "refused"] as const;
  const world = withMessageFates(ctx, (at) => fates[at] ?? "sent");
  await whenFiled(world, ctx.liveKey, createProcessRequest(fileKey));
  expect((await readJob(ctx)).status).toBe("enqueue_unknown");

  const { data } = await whenCancelled(ctx);
  await whenQuiet(ctx);

  expect(data).toMatchObject({ status: "cancelled", credits_refunded: 5 });
  expect(await readCredits(ctx)).toMatchObject({ available: 100, held: 0, spent: 0 });
  await thenConsistent(ctx);
});

test("an export of every row marks the cancelled rows", async () => {
  const ctx = await givenChunked();
  await whenProcessed(ctx, ["ann@x.com", "greylisted@x.com", "greylisted+2@x.com"]);
  await whenWorked(ctx);
  await whenCancelled(ctx);

  const query = { format: "json", selection: "all" };
  const { text } = await send(ctx.world, "GET /v1/jobs/job_1/download", {
    key: ctx.liveKey,
    query,
  });

  const exported = JSON.parse(text);
  expect(exported).toMatchObject({ complete: false, expected_rows: 3, rows_missing: 0 });
  expect(exported.rows.map((row: any) => row.row_outcome)).toEqual([
    "verified",
    "cancelled",
    "cancelled",
  ]);
});

test("a repeat of the creating request returns the cancelled job and starts no other", async () => {
  const ctx = await givenChunked();
  const body = { emails: createEmails(2) };
  await whenBatched(ctx.world, ctx.liveKey, body, "key");
  await whenCancelled(ctx);

  const repeat = await whenBatched(ctx.world, ctx.liveKey, body, "key");

  expect(repeat.data).toMatchObject({ job_id: "job_1", idempotent_replay: true, credits_used: 0 });
  expect(await readCredits(ctx)).toMatchObject({ available: 100 });
});

test("the list of jobs shows a cancelled job as cancelled, and the job emits no event", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(2) });
  await whenCancelled(ctx);
  ctx.later(90 * MINUTE_MS);
  await whenReconciled(ctx);

  const query = { status: "cancelled" };
  const { data } = await send(ctx.world, "GET /v1/jobs", { key: ctx.liveKey, query });
  expect(data.jobs).toMatchObject([{ job_id: "job_1", status: "cancelled" }]);
  expect(listOutboxEvents(ctx)).toEqual([]);
});

test("cancelling an ended job answers 409 and changes nothing", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(2) });
  await whenWorked(ctx);

  const response = await whenCancelled(ctx);

  expect(response).toMatchObject({
    statusCode: 409,
    error: {
      code: "JOB_ENDED",
      message: "The job has completed, so it cannot be cancelled. Nothing was charged.",
    },
  });
  expect((await readJob(ctx)).status).toBe("completed");
});

test("cancelling a file job during its dispatch answers 409 with Retry-After in seconds", async () => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(5)));
  let early: Awaited<ReturnType<typeof whenCancelled>> | undefined;
  const { queue } = ctx.world;
  const sendMany: typeof queue.sendMany = async (name, messages) => {
    early ??= await whenCancelled(ctx);
    return queue.sendMany(name, messages);
  };
  const world = { ...ctx.world, queue: { ...queue, sendMany } };
  await whenFiled(world, ctx.liveKey, createProcessRequest(fileKey));

  expect(early).toMatchObject({
    statusCode: 409,
    error: { code: "NOT_READY", retryable: true },
    headers: { "retry-after": "5" },
  });
  expect((await whenCancelled(ctx)).statusCode).toBe(200);
});

test("cancelling a job answers a retryable 503 when the job changes at every attempt", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(2) });
  const transact: typeof ctx.table.transact = async (writes, attempt) => {
    const refusedWrite = writes.find(isCancelling);
    return refusedWrite
      ? { outcome: "refused", refusedWrite }
      : ctx.table.transact(writes, attempt);
  };

  const response = await whenCancelled({ ...ctx, world: withTable(ctx, { transact }) });

  expect(response).toMatchObject({ statusCode: 503, error: { retryable: true } });
  expect((await readJob(ctx)).status).toBe("processing");
});
