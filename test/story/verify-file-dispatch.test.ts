import { acquireLease } from "@mailproof/core/runtime/leases";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import {
  createProcessGoneAfter,
  type Fate,
  rejectDown,
  runTurn,
  withLostReplies,
  withMessageFates,
  withTable,
} from "../app/faulty-worlds.ts";
import { listMoves, listOutboxEvents, readCredits, thenConsistent } from "../app/ledger.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  formatRows,
  givenChunked,
  givenUpload,
  readJob,
  whenFiled,
  whenFormSent,
} from "../things/jobs.ts";

// What a file costs is held until it is known of every chunk whether it is queued: then it is settled or refunded.

const MINUTE_MS = 60_000;

/** Five addresses in three chunks, of which the last has one. */
const givenFile = async (emails = createEmails(5), rows = 2) => {
  const ctx = await givenChunked({ rows });
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(emails));
  const process = (world = ctx.world, idempotencyKey: string | undefined = "k") =>
    whenFiled(world, ctx.liveKey, createProcessRequest(fileKey), idempotencyKey);
  return { ...ctx, process };
};

/** The process that accepted it crashes after so many changes. */
const givenAbandoned = async (effects: number) => {
  const ctx = await givenFile();
  void ctx.process(createProcessGoneAfter(ctx, effects).world);
  for (let turns = 0; turns < 20; turns++) await runTurn();
  return ctx;
};

test("a repeated file request returns the same job with idempotent_replay for free, also after the job's end", async () => {
  const ctx = await givenFile();
  const first = await ctx.process();
  const early = await ctx.process();
  await whenWorked(ctx);
  const late = await ctx.process();

  const replay = {
    ...first.data,
    credits_used: 0,
    idempotent_replay: true,
    message: "This is the earlier submission with this Idempotency-Key. Nothing more was charged.",
  };
  expect([early.statusCode, early.data]).toEqual([202, replay]);
  expect([late.statusCode, late.data]).toEqual([202, replay]);
  expect(listMoves(ctx)).toEqual(["hold 5", "settle 5"]);
});

test("a form sent twice replays with the same file and answers 409 with another", async () => {
  const ctx = await givenChunked();
  const { world, liveKey } = ctx;
  const getPart = (emails: readonly string[], fileName = "list.csv") => ({
    name: "file",
    fileName,
    content: formatCsv(emails),
  });
  const first = await whenFormSent(world, liveKey, [getPart(createEmails(3))], "k");

  const same = await whenFormSent(world, liveKey, [getPart(createEmails(3), "again.csv")], "k");
  const others = [
    await whenFormSent(world, liveKey, [getPart(createEmails(4))], "k"),
    await whenFormSent(
      world,
      liveKey,
      [getPart(createEmails(3)), { name: "has_header", content: "true" }],
      "k",
    ),
  ];

  expect(same.data).toMatchObject({ job_id: first.data.job_id, idempotent_replay: true });
  expect(others.map(({ statusCode }) => statusCode)).toEqual([409, 409]);
  expect(listMoves(ctx)).toEqual(["hold 3", "settle 3"]);
});

test("a repeated file request during dispatch answers 202 dispatch_in_progress with Retry-After", async () => {
  const ctx = await givenAbandoned(3);
  ctx.later(1_500);

  const response = await ctx.process();

  expect(response).toMatchObject({ statusCode: 202, headers: { "retry-after": "1" } });
  expect(response.data).toEqual({
    job_id: "job_1",
    status: "processing",
    total_submitted: 5,
    duplicates_removed: 0,
    invalid_emails_skipped: 0,
    unique_emails: 5,
    file: expect.objectContaining({ email_column: "email", delimiter: "none" }),
    credits_used: 0,
    credits_remaining: 95,
    dispatch_in_progress: true,
    message: expect.stringMatching(/still queueing the addresses\. Nothing more was charged/),
  });
  expect(await readJob(ctx)).toMatchObject({ status: "processing" });
  expect(listMoves(ctx)).toEqual(["hold 5"]);
});

test("a repeated file request's Retry-After covers the rest of the dispatch, not the reconciler's five minutes", async () => {
  const ctx = await givenAbandoned(3);
  ctx.later(45_000);
  const item = await ctx.table.get({ pk: "OPERATION#job_1", sk: "OPERATION" });
  await acquireLease(ctx.world, item ?? { pk: "", sk: "" }, 5 * 60_000);

  expect((await ctx.process()).headers).toMatchObject({ "retry-after": "1" });
});

test("a repeated file request before settlement answers 202 dispatch_settlement_pending", async () => {
  const ctx = await givenAbandoned(5);

  const response = await ctx.process();

  expect(response).toMatchObject({
    statusCode: 202,
    headers: { "retry-after": "1" },
    data: { job_id: "job_1", credits_used: 0, dispatch_settlement_pending: true },
  });
  expect(response.data).not.toHaveProperty("dispatch_in_progress");
  expect(listMoves(ctx)).toEqual(["hold 5"]);
});

test("a repeated file request does not refund a verified chunk when the queue refuses the remaining ones", async () => {
  const ctx = await givenAbandoned(4);
  await whenWorked(ctx);
  ctx.later(45_000);

  const response = await ctx.process(withMessageFates(ctx, () => "refused"));
  await whenQuiet(ctx);

  // A first try may have queued what this one could not.
  expect(response).toMatchObject({
    statusCode: 202,
    data: { status: "enqueue_unknown", enqueue_unknown: 5, credits_held: 5 },
  });
  expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 5 });
  expect(new Set(listMoves(ctx))).toEqual(new Set(["hold 5", "settle 2", "settle 1"]));
  await thenConsistent(ctx);
});

test("the workers settle and end a file without the reconciler when all chunks are verified", async () => {
  const ctx = await givenFile();

  const response = await ctx.process(withMessageFates(ctx, () => "unheard"));
  await whenWorked(ctx);

  expect(response.data).toMatchObject({ status: "enqueue_unknown", credits_held: 5 });
  expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 5 });
  expect(listMoves(ctx).toSorted()).toEqual(["hold 5", "settle 1", "settle 2", "settle 2"]);
  await thenConsistent(ctx);
});

/** What becomes of the chunks 0, 1 and 2, when they are first sent. */
const getFates =
  (...fates: readonly Fate[]) =>
  (chunk: number): Fate =>
    fates[chunk] ?? "sent";

test("a repeated file request returns the current state instead of the first one", async () => {
  const ctx = await givenFile();
  await ctx.process(withMessageFates(ctx, getFates("sent", "unknown", "sent")));
  await whenQuiet(ctx);

  const { data } = await ctx.process();

  expect(data).toMatchObject({ idempotent_replay: true, status: "processing", credits_used: 0 });
  expect(data).not.toHaveProperty("credits_held");
  expect(data).not.toHaveProperty("enqueue_unknown");
});

test("a fully refunded file leaves its Idempotency-Key free", async () => {
  const ctx = await givenFile();
  const ambiguousWorld = withMessageFates(ctx, () => "unknown");
  await ctx.process(ambiguousWorld);
  for (let hour = 0; hour < 3; hour++) {
    ctx.later(3_600_000);
    await whenReconciled({ world: ambiguousWorld });
  }
  const given = await readJob(ctx);

  const again = await ctx.process();

  expect(given).toMatchObject({ status: "failed", processed_emails: 0 });
  expect(again.data).not.toHaveProperty("idempotent_replay");
  expect(again.data.job_id).not.toBe(given.job_id);
  await thenConsistent(ctx);
});

test("a file refunds its finally refused chunks and continues with the others", async () => {
  const ctx = await givenFile();

  const response = await ctx.process(withMessageFates(ctx, getFates("sent", "refused", "sent")));
  const repeat = await ctx.process();
  await whenWorked(ctx);

  expect(response.data).toMatchObject({
    status: "processing",
    unique_emails: 5,
    credits_used: 5,
    credits_refunded: 2,
    credits_remaining: 97,
    message:
      "3 addresses are being verified. 2 addresses could not be queued. Their charge was refunded.",
  });
  expect(response.data).not.toHaveProperty("credits_held");
  expect(repeat.data).toMatchObject({ credits_used: 0, credits_refunded: 2 });
  expect(listMoves(ctx).toSorted()).toEqual(["hold 5", "release 2", "settle 3"]);
  expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 3 });
  expect(formatRows(await readJob(ctx)).map((row) => row.slice(0, 1))).toEqual(["2", "3", "6"]);
  await thenConsistent(ctx);
});

test("a worker does not verify a refused and refunded chunk whose message arrives later", async () => {
  const ctx = await givenFile();
  await ctx.process(withMessageFates(ctx, getFates("sent", "refused", "sent")));
  await ctx.queue.sendMany("chunks", [
    { body: { job: "job_1", chunk: 1, pass: 0, from: 0, to: 9, checksum: 0 } },
  ]);

  await whenWorked(ctx);

  expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 3 });
  await thenConsistent(ctx);
});

test("a file reports chunks of ambiguous dispatch as enqueue_unknown and holds their credits", async () => {
  const ctx = await givenFile();

  const response = await ctx.process(withMessageFates(ctx, getFates("refused", "unknown", "sent")));

  expect(response).toMatchObject({
    statusCode: 202,
    data: {
      status: "enqueue_unknown",
      credits_used: 5,
      credits_refunded: 2,
      credits_held: 2,
      enqueue_unknown: 2,
      credits_remaining: 97,
      message:
        "3 addresses are being verified. 2 addresses could not be queued. Their charge was refunded. 2 addresses may or may not be queued. Their credits are held until it is known.",
    },
  });
  expect(await readJob(ctx)).toMatchObject({ status: "enqueue_unknown" });
  expect(await readCredits(ctx)).toMatchObject({ available: 97, held: 2, spent: 1, refunded: 2 });
  await thenConsistent(ctx);
});

test.each([
  ["did not arrive", "unknown", "enqueue_unknown"],
  ["arrived", "unheard", "completed"],
] as const)(
  "a chunk whose message %s is settled when its fate is known, and verified once",
  async (_case, fate, status) => {
    const ctx = await givenFile();
    await ctx.process(withMessageFates(ctx, getFates("sent", fate, "sent")));
    await whenWorked(ctx);
    const meanwhile = await readJob(ctx);

    ctx.later(MINUTE_MS);
    await whenReconciled(ctx);
    await whenWorked(ctx);

    expect(meanwhile.status).toBe(status);
    expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 5 });
    expect(listMoves(ctx)).toEqual(["settle 2", "hold 5", "settle 3"]);
    expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
    await thenConsistent(ctx);
  },
);

test("a chunk that cannot be queued is refunded after exactly an hour, and the job ends", async () => {
  const ctx = await givenFile();
  const world = withMessageFates(ctx, getFates("sent", "unknown", "unknown"));
  await ctx.process(world);
  await whenWorked(ctx);
  const lossy = { ...ctx, world };
  for (let minute = 0; minute < 60; minute++) {
    ctx.later(MINUTE_MS);
    await whenReconciled(lossy);
  }
  const before = await readCredits(ctx);

  ctx.later(MINUTE_MS);
  await whenReconciled(lossy);

  expect(before).toMatchObject({ available: 95, held: 3, spent: 2 });
  expect(listMoves(ctx)).toEqual(["release 2", "release 1", "hold 5", "settle 2"]);
  expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 2 });
  expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
  await thenConsistent(ctx);
});

test("a chunk stays charged when a worker finishes the chunk during its refund", async () => {
  const ctx = await givenFile();
  await ctx.process(withMessageFates(ctx, getFates("sent", "unheard", "sent")));
  ctx.later(61 * MINUTE_MS);
  const lossy = withMessageFates(ctx, () => "unknown");
  const { table } = ctx;
  let isDone = false;
  // Between the read of the chunk and its refund, its worker finishes.
  const transact: typeof table.transact = async (writes) => {
    if (!isDone) {
      isDone = true;
      await whenWorked(ctx);
    }
    return table.transact(writes);
  };

  await whenReconciled({ world: withTable({ ...ctx, world: lossy }, { transact }) });
  await whenQuiet(ctx);

  expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 5 });
  expect(listMoves(ctx)).toEqual(["settle 2", "hold 5", "settle 3"]);
  await thenConsistent(ctx);
});

test("a file whose chunks are all refused is refunded, its job fails, and its key buys again", async () => {
  const ctx = await givenFile();

  const failed = await ctx.process(withMessageFates(ctx, () => "refused"));
  const bought = await ctx.process();
  await whenWorked(ctx);

  expect(failed).toMatchObject({ statusCode: 500, error: { code: "INTERNAL" } });
  expect(failed.error.message).toMatch(/The charge was refunded\.$/);
  expect(await readJob(ctx)).toMatchObject({
    status: "failed",
    error: "None of the addresses could be queued. The charge was refunded.",
    processed_emails: 0,
  });
  expect(bought.data).toMatchObject({ job_id: "job_2", credits_used: 5, credits_remaining: 95 });
  expect(bought.data).not.toHaveProperty("idempotent_replay");
  expect(await readJob(ctx, "job_2")).toMatchObject({ status: "completed" });
  expect(listMoves(ctx)).toEqual(["hold 5", "release 5", "hold 5", "settle 5"]);
  expect(listOutboxEvents(ctx)).toEqual(["job.failed", "job.completed"]);
  await thenConsistent(ctx);
});

test("a file refunds one transaction's worth of many refused chunks at once and the others within an hour", async () => {
  const ctx = await givenFile(createEmails(90), 1);
  const getFate = (chunk: number): Fate => (chunk === 0 ? "sent" : "refused");
  const world = withMessageFates(ctx, getFate);

  const response = await ctx.process(world);
  await whenQuiet({ ...ctx, world });

  expect(response.data).toMatchObject({
    status: "enqueue_unknown",
    credits_refunded: 80,
    credits_held: 9,
    enqueue_unknown: 9,
  });
  expect(await readCredits(ctx)).toMatchObject({ held: 0, spent: 1, refunded: 89 });
  expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 1 });
  await thenConsistent(ctx);
});

test("a refund without a reply reports an unknown outcome, and a repeated file request returns the outcome", async () => {
  const ctx = await givenFile();
  const refusing = withMessageFates(ctx, () => "refused");

  const response = await ctx.process(withLostReplies(ctx, refusing, 2, true));
  const again = await ctx.process();

  expect(response.statusCode).toBe(500);
  expect(response.error.message).toMatch(/Retry with the same Idempotency-Key; it will not be/);
  expect(again.data).toMatchObject({ job_id: "job_2", credits_used: 5 });
  expect(listMoves(ctx)).toEqual(["hold 5", "release 5", "hold 5", "settle 5"]);
});

test.each([
  ["written", true],
  ["not written", false],
])(
  "a settlement whose lost reply was %s reports dispatch_settlement_pending and one charge",
  async (_case, written) => {
    const ctx = await givenFile();

    const response = await ctx.process(withLostReplies(ctx, ctx.world, 2, written));
    const repeat = await ctx.process();
    await whenQuiet(ctx);

    expect(response).toMatchObject({
      statusCode: 202,
      data: { credits_used: 5, dispatch_settlement_pending: true },
    });
    expect(repeat.data).toMatchObject({ job_id: "job_1", credits_used: 0 });
    expect(listMoves(ctx)).toEqual(["hold 5", "settle 5"]);
    expect(await readJob(ctx)).toMatchObject({ status: "completed" });
    await thenConsistent(ctx);
  },
);

test("a response without an Idempotency-Key does not suggest a repeat, which would charge again", async () => {
  const ctx = await givenFile();

  const response = await whenFiled(
    withLostReplies(ctx, ctx.world, 2, false),
    ctx.liveKey,
    createProcessRequest(`uploads/live/${ctx.account}/upl_1.bGlzdC5jc3Y.csv`),
  );

  expect(response).toMatchObject({ statusCode: 202, data: { dispatch_settlement_pending: true } });
  expect(response.headers).not.toHaveProperty("retry-after");
  expect(response.data.message).toMatch(
    /Follow the job\. Nothing more was charged\. Sending .* charges it again\.$/,
  );
});

test.each([
  ["under an Idempotency-Key asks for the same key", "k", /Retry with the same Idempotency-Key/],
  ["without a key promises nothing", undefined, /Do not assume a refund; check GET \/v1\/jobs/],
])(
  "a file that fails after the debit answers 500 and %s, and its job continues",
  async (_case, keyed, words) => {
    const ctx = await givenFile();
    const fileKey = `uploads/live/${ctx.account}/upl_1.bGlzdC5jc3Y.csv`;
    const breaking = { ...ctx.world, queue: { ...ctx.queue, sendMany: rejectDown } };

    const response = await whenFiled(breaking, ctx.liveKey, createProcessRequest(fileKey), keyed);
    await whenQuiet(ctx);

    expect(response).toMatchObject({ statusCode: 500, error: { code: "INTERNAL" } });
    expect(response.error.message).toMatch(words);
    expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 5 });
    expect(listMoves(ctx)).toEqual(["hold 5", "settle 5"]);
  },
);

test("a test key's file without any queued chunk states that nothing was charged", async () => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.testKey, formatCsv(createEmails(5)));

  const response = await whenFiled(
    withMessageFates(ctx, () => "refused"),
    ctx.testKey,
    createProcessRequest(fileKey),
  );

  expect(response.error.message).toMatch(/Nothing was charged\.$/);
  expect(await readJob(ctx, "job_1", ctx.testKey)).toMatchObject({
    status: "failed",
    error: "None of the addresses could be queued. Nothing was charged.",
  });
});
