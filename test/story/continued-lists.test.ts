import { setRetention } from "@mailproof/core/accounts/retention";
import { DAY_MS } from "@mailproof/core/lib/time";
import { verifyChunk } from "@mailproof/core/lists/chunk-worker";
import type { Table } from "@mailproof/core/ports/table";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { runTurn, withTable } from "../app/faulty-worlds.ts";
import { readCredits, thenConsistent } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import { createEvent, whenEventsSent } from "../things/activity.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  formatRows,
  givenChunked,
  givenUpload,
  readJob,
  type TestContext,
  whenFiled,
} from "../things/jobs.ts";

// A file continues an earlier list: addresses with a good result there keep it and cost nothing.

const FIRST = "email,name\nann@x.com,Ann\nbob@x.com,Bob\ncy@x.com,Cy\ndee@x.com,Dee\n";
/** Without Dee, with Eve, and Bob has another name. */
const SECOND = "email,name\nbob@x.com,Robert\neve@x.com,Eve\ncy@x.com,Cy\nann@x.com,Ann\n";

/** A list of four addresses that has ended: `job_1`. */
const givenFirst = async (content = FIRST): Promise<TestContext> => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.liveKey, content);
  await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey));
  await whenQuiet(ctx);
  return ctx;
};

const whenContinued = async (
  ctx: TestContext,
  { content = SECOND, continues = "job_1", key = "k1", ...more }: Record<string, any> = {},
) => {
  const fileKey = await givenUpload(ctx, ctx.liveKey, content);
  const body = createProcessRequest(fileKey, { continues, ...more });
  return whenFiled(ctx.world, ctx.liveKey, body, key);
};

test("a file that continues a list charges only the new addresses, and the others keep their result", async () => {
  const ctx = await givenFirst();
  ctx.later(DAY_MS);

  const { statusCode, data } = await whenContinued(ctx);
  const during = await readJob(ctx, data.job_id);
  await whenQuiet(ctx);
  const after = await readJob(ctx, data.job_id);

  expect(statusCode).toBe(202);
  expect(data).toMatchObject({
    unique_emails: 4,
    compared: { new: 1, kept: 3, again: 0, removed: 1 },
    credits_used: 1,
    credits_remaining: 95,
    message: "1 address is being verified. 3 addresses keep their result.",
  });
  expect(during).toMatchObject({
    status: "processing",
    continues_job_id: "job_1",
    progress: { total: 4, processed: 3 },
    summary: { statuses: { valid: 3 } },
  });
  expect(after).toMatchObject({
    status: "completed",
    progress: { total: 4, processed: 4, valid: 4 },
    summary: { statuses: { valid: 4 } },
  });
  expect(formatRows(after).toSorted()).toEqual([
    "2 bob@x.com valid",
    "3 eve@x.com valid",
    "4 cy@x.com valid",
    "5 ann@x.com valid",
  ]);
  expect(await readCredits(ctx)).toMatchObject({ available: 95, spent: 5, held: 0 });
  await thenConsistent(ctx);
});

test("an address whose result is older than fresh_days, or unknown, is charged again", async () => {
  const ctx = await givenFirst("email,name\nann@x.com,Ann\ntimeout@x.com,Tim\n");
  await whenReconciled(ctx);
  ctx.later(10 * DAY_MS);
  const content = "email,name\nann@x.com,Ann\n";

  const old = await whenContinued(ctx, { content, fresh_days: 9 });
  const good = await whenContinued(ctx, { content, fresh_days: 11, key: "k2" });

  expect(old.data).toMatchObject({ compared: { new: 0, kept: 0, again: 1 }, credits_used: 1 });
  expect(good.data).toMatchObject({ compared: { new: 0, kept: 1, again: 0 }, credits_used: 0 });
  await whenQuiet(ctx);
  expect(await readJob(ctx, good.data.job_id)).toMatchObject({ status: "completed" });
  await thenConsistent(ctx);
});

test("an address that bounced since its result is charged again, once", async () => {
  const ctx = await givenFirst("email\nann@x.com\nbob@x.com\ninvalid@x.com\n");
  const bounce = { bounce_type: "hard", diagnostic: "550 5.1.1 User unknown" } as const;
  for (const email of ["ann@x.com", "invalid@x.com"])
    await whenEventsSent(ctx.world, ctx.liveKey, createEvent("bounce", 0, { email, ...bounce }));
  const content = "email\ninvalid@x.com\nbob@x.com\nann@x.com\n";

  const second = await whenContinued(ctx, { content });
  await whenQuiet(ctx);
  const rows = formatRows(await readJob(ctx, second.data.job_id));
  const continues = second.data.job_id;
  const third = await whenContinued(ctx, { content, continues, key: "k2" });

  expect(second.data).toMatchObject({
    compared: { new: 0, kept: 2, again: 1 },
    credits_used: 1,
  });
  expect(rows).toContain("4 ann@x.com risky");
  expect(third.data).toMatchObject({
    compared: { new: 0, kept: 3, again: 0 },
    credits_used: 0,
  });
  await thenConsistent(ctx);
});

test("a preview states the comparison and the price, and creates no job", async () => {
  const ctx = await givenFirst();
  const fileKey = await givenUpload(ctx, ctx.liveKey, SECOND);
  const body = { action: "preview", file_key: fileKey, continues: "job_1" };

  const { statusCode, data } = await whenFiled(ctx.world, ctx.liveKey, body);

  expect(statusCode).toBe(200);
  expect(data).toMatchObject({
    total_submitted: 4,
    unique_emails: 4,
    compared: { new: 1, kept: 3, again: 0, removed: 1 },
    changed: 1,
    credits: 1,
  });
  expect(await readCredits(ctx)).toMatchObject({ available: 96 });
  const { data: jobs } = await send(ctx.world, "GET /v1/jobs", { key: ctx.liveKey });
  expect(jobs.jobs).toHaveLength(1);
});

test("a list that is open, of one address, or of another account cannot be continued", async () => {
  const ctx = await givenChunked();
  const other = await givenFirst();
  const fileKey = await givenUpload(ctx, ctx.liveKey, FIRST);
  const { data } = await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey));

  const open = await whenContinued(ctx, { continues: data.job_id });
  const missing = await whenContinued(ctx, { continues: "job_9", key: "k2" });

  expect(open).toMatchObject({ statusCode: 409, error: { code: "JOB_OPEN" } });
  expect(missing).toMatchObject({ statusCode: 404 });
  expect(await readCredits(ctx)).toMatchObject({ available: 96 });
  expect(await readCredits(other)).toMatchObject({ available: 96 });
});

test("a repeat with the same Idempotency-Key gets the first comparison and is not charged", async () => {
  const ctx = await givenFirst();
  const fileKey = await givenUpload(ctx, ctx.liveKey, SECOND);
  const body = createProcessRequest(fileKey, { continues: "job_1" });
  const first = await whenFiled(ctx.world, ctx.liveKey, body, "k1");

  const repeat = await whenFiled(ctx.world, ctx.liveKey, body, "k1");

  expect(repeat.data).toMatchObject({
    job_id: first.data.job_id,
    compared: first.data.compared,
    credits_used: 0,
    idempotent_replay: true,
  });
  await whenQuiet(ctx);
  expect(await readCredits(ctx)).toMatchObject({ available: 95 });
  await thenConsistent(ctx);
});

test("cancelling a continued list refunds only the addresses that were charged", async () => {
  const ctx = await givenFirst();
  const { data } = await whenContinued(ctx);

  const { data: cancelled } = await send(ctx.world, `POST /v1/jobs/${data.job_id}/cancel`, {
    key: ctx.liveKey,
  });

  expect(cancelled).toMatchObject({ status: "cancelled", credits_refunded: 1 });
  await whenQuiet(ctx);
  expect(await readCredits(ctx)).toMatchObject({ available: 96, spent: 4 });
  await thenConsistent(ctx);
});

test("a chunk whose rows are lost refunds only the addresses that were charged", async () => {
  const ctx = await givenFirst();
  const { data } = await whenContinued(ctx);
  await ctx.world.blobs.remove(`inputs/${data.job_id}.jsonl`);

  await whenQuiet(ctx);

  expect(await readJob(ctx, data.job_id)).toMatchObject({
    status: "completed",
    progress: { total: 4, processed: 3 },
    credits_refunded: 1,
  });
  expect(await readCredits(ctx)).toMatchObject({ available: 96, refunded: 1 });
  await thenConsistent(ctx);
});

test("the filter origin:new finds the new addresses in rows, counts and exports", async () => {
  const ctx = await givenFirst();
  ctx.later(DAY_MS);
  const { data } = await whenContinued(ctx, { fresh_days: 0 });
  await whenQuiet(ctx);
  const path = `/v1/jobs/${data.job_id}`;
  const query = { filter: "origin:new", facets: "true" };

  const rows = await send(ctx.world, `GET ${path}`, { key: ctx.liveKey, query });
  const { text } = await send(ctx.world, `GET ${path}/download`, {
    key: ctx.liveKey,
    query: { format: "csv", filter: "origin:new" },
  });
  const again = await send(ctx.world, `POST ${path}/again`, {
    key: ctx.liveKey,
    body: { filter: "origin:new" },
  });

  expect(data.compared).toMatchObject({ new: 1, again: 3, kept: 0 });
  expect(formatRows(rows.data)).toEqual(["3 eve@x.com valid"]);
  expect(rows.data).toMatchObject({
    matching_rows: 1,
    facets: { origin: { new: 1, earlier: 3 }, status: { valid: 1 } },
  });
  expect(text.trim().split("\r\n")).toHaveLength(2);
  expect(text).toContain("eve@x.com,Eve");
  expect(again.data).toMatchObject({ rows: 1 });
});

test("a row has its earlier results, newest first", async () => {
  const ctx = await givenFirst();
  for (const key of ["k1", "k2"]) {
    ctx.later(DAY_MS);
    const continues = key === "k1" ? "job_1" : "job_2";
    const { data } = await whenContinued(ctx, { continues, key, fresh_days: 0 });
    expect(data.job_id).toBe(key === "k1" ? "job_2" : "job_3");
    await whenQuiet(ctx);
  }

  const { data } = await send(ctx.world, "GET /v1/jobs/job_3/results/2", { key: ctx.liveKey });

  expect(data).toMatchObject({
    email: "bob@x.com",
    history: [
      { job_id: "job_2", status: "valid" },
      { job_id: "job_1", status: "valid" },
    ],
  });
});

test("the results that an unpaid list kept are removed with its draft", async () => {
  const ctx = await givenFirst();
  const content = `email\n${Array.from({ length: 200 }, (_, n) => `new${n}@x.com`).join("\n")}\nann@x.com\n`;

  const refused = await whenContinued(ctx, { content });
  ctx.later(3 * 60 * 60_000);
  await whenReconciled(ctx);
  ctx.later(3 * 60 * 60_000);
  await whenReconciled(ctx);

  expect(refused.statusCode).toBe(402);
  const left = await ctx.table.query({ pk: "CHUNKS#job_2", limit: 10 });
  expect(left.items).toEqual([]);
});

test("the reconciler sends the chunk of a continued list again when its message was lost", async () => {
  const ctx = await givenFirst();
  const { data } = await whenContinued(ctx);
  const lost = await ctx.queue.receive(verifyChunk.queue, { waitMs: 0 });
  for (const { receipt } of lost) await ctx.queue.acknowledge(receipt);

  ctx.later(2 * 60 * 60_000);
  await whenReconciled(ctx);
  await whenQuiet(ctx);

  expect(lost).toHaveLength(1);
  expect(await readJob(ctx, data.job_id)).toMatchObject({
    status: "completed",
    progress: { total: 4, processed: 4 },
  });
  await thenConsistent(ctx);
});

test("a worker that gets the message of a continued chunk twice verifies its rows once", async () => {
  const ctx = await givenFirst();
  const { data } = await whenContinued(ctx);
  const received = await ctx.queue.receive(verifyChunk.queue, { waitMs: 0 });

  for (const { body } of [...received, ...received]) await verifyChunk.handle(ctx.world, body);

  expect(await readJob(ctx, data.job_id)).toMatchObject({
    status: "completed",
    progress: { total: 4, processed: 4 },
  });
  await thenConsistent(ctx);
});

test("a role address whose mail server was not asked is verified and charged again", async () => {
  const ctx = await givenChunked();
  const content = "email\ninfo@x.com\n";
  const fileKey = await givenUpload(ctx, ctx.liveKey, content);
  const options = { deep_verify: false };
  await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey, { options }));
  await whenQuiet(ctx);

  const asked = await whenContinued(ctx, { content });
  await whenQuiet(ctx);
  const continues = asked.data.job_id;
  const kept = await whenContinued(ctx, { content, continues, key: "k2" });

  expect(formatRows(await readJob(ctx))).toEqual(["2 info@x.com role"]);
  expect(asked.data).toMatchObject({ compared: { again: 1, kept: 0 }, credits_used: 1 });
  expect(kept.data).toMatchObject({ compared: { again: 0, kept: 1 }, credits_used: 0 });
});

test("the history of an erased row has no result of another erased row", async () => {
  const ctx = await givenFirst();
  ctx.later(DAY_MS);
  await whenContinued(ctx, { fresh_days: 0 });
  await whenQuiet(ctx);
  for (const email of ["dee@x.com", "ann@x.com"])
    await send(ctx.world, "DELETE /v1/data", { key: ctx.liveKey, query: { email } });
  await whenReconciled(ctx);
  await whenQuiet(ctx);

  const { data } = await send(ctx.world, "GET /v1/jobs/job_2/results/5", { key: ctx.liveKey });

  expect(data.email).toBe("[erased]");
  expect(data).not.toHaveProperty("history");
});

test("a kept result shows the address as the new list writes it", async () => {
  const ctx = await givenFirst("email\nAnn@X.com\nbob@x.com\nCy@x.com\n");
  const content = "email\nann@x.com\nBob <BOB@x.com>\nCy@x.com\n";

  const { data } = await whenContinued(ctx, { content });
  await whenQuiet(ctx);

  expect(data).toMatchObject({ compared: { kept: 3 } });
  expect(formatRows(await readJob(ctx, data.job_id))).toEqual([
    "2 ann@x.com valid",
    "3 BOB@x.com valid",
    "4 Cy@x.com valid",
  ]);
});

test("an address without a result in the earlier list is not new", async () => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.liveKey, FIRST);
  await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey));
  await send(ctx.world, "POST /v1/jobs/job_1/cancel", { key: ctx.liveKey });
  await whenQuiet(ctx);

  const { data } = await whenContinued(ctx);

  expect(data).toMatchObject({
    compared: { new: 1, kept: 0, again: 3, removed: 1 },
    credits_used: 4,
  });
});

test("comparing lists and reading a row's history wait for their turn among reads of whole lists", async () => {
  const ctx = await givenFirst();
  await whenContinued(ctx, { fresh_days: 0 });
  await whenQuiet(ctx);
  // All that a minute allows beside the comparison of four rows.
  const rows = 60_000_000 - 20 * 4;
  const everyRow = { account: "acc_1", name: "every row", rows, bytes: 1 };
  await ctx.world.listReads.run(everyRow, async () => undefined);
  const fileKey = await givenUpload(ctx, ctx.liveKey, SECOND);
  const preview = { action: "preview", file_key: fileKey, continues: "job_1" };

  const answers = [
    await whenFiled(ctx.world, ctx.liveKey, preview),
    await whenContinued(ctx, { key: "k2" }),
    await send(ctx.world, "GET /v1/jobs/job_2/results/2", { key: ctx.liveKey }),
  ];

  expect(answers.map(({ error }) => error?.code)).toEqual(Array(3).fill("RATE_LIMITED"));
  await thenConsistent(ctx);
});

test("an address that was corrected in the earlier list is not new", async () => {
  const ctx = await givenFirst("email\nann@gmial.com\nbob@x.com\n");
  await send(ctx.world, "POST /v1/jobs/job_1/again", {
    key: ctx.liveKey,
    body: { correct: { domain: "gmial.com", meant: "x.com" } },
  });
  await whenQuiet(ctx);

  const { data } = await whenContinued(ctx, { content: "email\nann@gmial.com\nann@x.com\n" });

  expect(data.compared).toMatchObject({ new: 0, kept: 1, again: 1, removed: 1 });
});

test("a continued list writes the kept results of several chunks at a time", async () => {
  const emails = createEmails(16);
  const ctx = await givenFirst(formatCsv(emails));
  const under = new Map([
    ["CHUNKS", 0],
    ["RESULTS", 0],
  ]);
  const most = new Map(under);
  const write: Table["write"] = async (one) => {
    const area = "put" in one ? (one.put.pk.split("#")[0] ?? "") : "";
    const count = (by: number) => under.set(area, (under.get(area) ?? 0) + by);
    count(1);
    most.set(area, Math.max(most.get(area) ?? 0, under.get(area) ?? 0));
    await runTurn();
    count(-1);
    return ctx.table.write(one);
  };
  const world = withTable(ctx, { write });

  const { data } = await whenContinued({ ...ctx, world }, { content: formatCsv(emails) });

  expect(data.compared).toMatchObject({ kept: 16 });
  expect(Object.fromEntries(most)).toMatchObject({ CHUNKS: 8, RESULTS: 4 });
});

test("a chunk with kept results waits longer than its results are stored", async () => {
  const ctx = await givenFirst("email\nann@x.com\n");
  await setRetention(ctx.table, ctx.account, 1);
  const { data } = await whenContinued(ctx, { content: "email\nann@x.com\ngreylisted@x.com\n" });
  await whenWorked(ctx);

  ctx.later(1.5 * DAY_MS);
  await whenQuiet(ctx);

  const job = await readJob(ctx, data.job_id);
  expect(job).toMatchObject({ status: "completed", progress: { processed: 2 } });
  expect(formatRows(job)).toEqual(["2 ann@x.com valid", "3 greylisted@x.com unknown"]);
});

test.each([
  ["keeps", "whose server greylists", "greylisted", 1],
  ["does not keep", "that was not charged", "ip_blocked", 0],
])("a list %s a role address %s", async (_case, _of, reason, kept) => {
  const sound = await givenChunked();
  const { engine } = sound.world;
  const probe: typeof engine.probe = async (question) => {
    const answer = await engine.probe(question);
    return { ...answer, finding: { ...answer.finding, verdict: "unknown", reason } };
  };
  const ctx = { ...sound, world: { ...sound.world, engine: { ...engine, probe } } };
  const content = "email\ninfo@x.com\n";
  const fileKey = await givenUpload(ctx, ctx.liveKey, content);
  await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey));
  await whenQuiet(ctx);

  const { data } = await whenContinued(ctx, { content });

  expect(await readJob(ctx)).toMatchObject({ status: "completed", progress: { risky: 1 } });
  expect(data.compared).toMatchObject({ kept, again: 1 - kept });
});
