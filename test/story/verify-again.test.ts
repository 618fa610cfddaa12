import type { AppWorld } from "@mailproof/core/app-world";
import { verifyChunk } from "@mailproof/core/lists/chunk-worker";
import { findJob } from "@mailproof/core/rows/items";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { withTable } from "../app/faulty-worlds.ts";
import { listMoves, readCredits, thenConsistent } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import {
  createProcessRequest,
  formatRows,
  givenChunked,
  givenUpload,
  readJob,
  type TestContext,
  whenBatched,
  whenFiled,
} from "../things/jobs.ts";

// Rows of a job that have a result are verified again by a child, whose results replace them as they arrive.

type Probe = AppWorld["engine"]["probe"];

/** Mail servers that are silent about these names, until the test changes the set. */
const givenSilent = async (names: Set<string>, rows = 2): Promise<TestContext> => {
  const ctx = await givenChunked({ rows });
  const { engine } = ctx.world;
  const probe: Probe = async (question) => {
    const [name = ""] = question.recipient.split("@");
    const answer = await engine.probe(question);
    if (!names.has(name)) return answer;
    const finding = { ...answer.finding, verdict: "unknown", reason: "timeout" } as const;
    return { ...answer, finding };
  };
  return { ...ctx, world: { ...ctx.world, engine: { ...engine, probe } } };
};

const LIST =
  "email,name\nann@x.com,Ann\nbob@x.com,Bob\ncy@x.com,Cy\ndee@x.com,Dee\neve@x.com,Eve\n";

/** A list of five addresses that has ended; b, c and e are unknown. */
const givenList = async (content = LIST) => {
  const silent = new Set(["bob", "cy", "eve", "greylisted", "greylisted+2"]);
  const ctx = await givenSilent(silent);
  const fileKey = await givenUpload(ctx, ctx.liveKey, content);
  await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey));
  await whenQuiet(ctx);
  return { ...ctx, silent };
};

/** The child has found out about bob; the two other rows wait. */
const givenWaitingChild = async () => {
  const ctx = await givenList(
    "email\nann@x.com\nbob@x.com\ngreylisted@x.com\ngreylisted+2@x.com\n",
  );
  ctx.silent.clear();
  const { data } = await whenAgain(ctx, UNKNOWN);
  await whenWorked(ctx);
  return { ...ctx, child: data.job_id as string };
};

const whenAgain = (
  { world, liveKey }: Pick<TestContext, "world" | "liveKey">,
  body: object,
  { id = "job_1", key = liveKey, idempotencyKey = "k1" } = {},
) =>
  send(world, `POST /v1/jobs/${id}/again`, {
    key,
    body,
    headers: { "idempotency-key": idempotencyKey },
  });

const UNKNOWN = { filter: "status:unknown" };

const readCsv = async ({ world, liveKey }: TestContext): Promise<string[]> => {
  const { text } = await send(world, "GET /v1/jobs/job_1/download", {
    key: liveKey,
    query: { format: "csv" },
  });
  return text.trim().split(/\r?\n/);
};

test("a child job charges the unknown rows once and replaces them by their new results", async () => {
  const ctx = await givenList();
  ctx.silent.delete("bob");

  const response = await whenAgain(ctx, UNKNOWN);
  const during = await readJob(ctx);
  await whenQuiet(ctx);

  expect(response).toMatchObject({
    statusCode: 202,
    data: {
      parent_job_id: "job_1",
      status: "processing",
      rows: 3,
      credits_used: 3,
      idempotent_replay: false,
    },
  });
  expect(during).toMatchObject({
    child_job_id: response.data.job_id,
    progress: { valid: 2, unknown: 3 },
  });
  const after = await readJob(ctx);
  expect(after.child_job_id).toBeUndefined();
  expect(after).toMatchObject({
    progress: { total: 5, processed: 5, valid: 3, unknown: 2 },
    summary: { statuses: { valid: 3, unknown: 2 } },
  });
  expect(formatRows(after)).toEqual([
    "2 ann@x.com valid",
    "3 bob@x.com valid",
    "4 cy@x.com unknown",
    "5 dee@x.com valid",
    "6 eve@x.com unknown",
  ]);
  expect(await readCredits(ctx)).toMatchObject({ available: 92, spent: 8, held: 0 });
  await thenConsistent(ctx);
});

test("a child job shows its parent's id and keeps the parent's row numbers", async () => {
  const ctx = await givenList();
  ctx.silent.clear();
  const { data } = await whenAgain(ctx, UNKNOWN);
  await whenQuiet(ctx);

  const child = await readJob(ctx, data.job_id);

  expect(child).toMatchObject({ kind: "file", status: "completed", parent_job_id: "job_1" });
  expect(formatRows(child)).toEqual(["3 bob@x.com valid", "4 cy@x.com valid", "6 eve@x.com valid"]);
});

test("a filter, a text or a row number finds only the new result of a replaced row", async () => {
  const ctx = await givenList();
  ctx.silent.delete("bob");
  await whenAgain(ctx, UNKNOWN);
  await whenQuiet(ctx);

  const find = async (query: Record<string, string>) =>
    formatRows((await send(ctx.world, "GET /v1/jobs/job_1", { key: ctx.liveKey, query })).data);
  const row = await send(ctx.world, "GET /v1/jobs/job_1/results/3", { key: ctx.liveKey });

  expect(await find({ filter: "status:unknown" })).toEqual([
    "4 cy@x.com unknown",
    "6 eve@x.com unknown",
  ]);
  expect(await find({ q: "bob" })).toEqual(["3 bob@x.com valid"]);
  expect(await find({ sort: "-email" })).toHaveLength(5);
  expect(row.data).toMatchObject({
    row: 3,
    status: "valid",
    evidence: { mail_host: "mx.sandbox.test" },
  });
});

test("a second child job replaces rows that a first one replaced", async () => {
  const ctx = await givenList();
  ctx.silent.delete("bob");
  await whenAgain(ctx, UNKNOWN);
  await whenQuiet(ctx);
  ctx.silent.clear();

  const { data } = await whenAgain(ctx, { filter: "score:0-100" }, { idempotencyKey: "k2" });
  await whenQuiet(ctx);

  expect(data.rows).toBe(5);
  expect(await readJob(ctx)).toMatchObject({
    progress: { processed: 5, valid: 5, unknown: 0 },
    summary: { statuses: { valid: 5, unknown: 0 } },
  });
  expect(await readCsv(ctx)).toHaveLength(6);
  await thenConsistent(ctx);
});

test("an export contains the new results beside the list's own cells, also after an earlier export", async () => {
  const ctx = await givenList();
  const before = await readCsv(ctx);
  ctx.silent.clear();
  await whenAgain(ctx, UNKNOWN);
  await whenQuiet(ctx);

  const after = await readCsv(ctx);

  expect(before.filter((line) => line.includes(",unknown,"))).toHaveLength(3);
  expect(after).toHaveLength(6);
  expect(after[2]).toMatch(/^bob@x\.com,Bob,bob@x\.com,valid,/);
});

test("a child job verifies the rows of a mistyped domain at the corrected domain", async () => {
  const ctx = await givenList("email,name\nann@gmial.com,Ann\nbob@x.com,Bob\ndee@gmial.com,Dee\n");

  const { summary } = await readJob(ctx);
  const { data } = await whenAgain(ctx, { correct: { domain: "gmial.com", meant: "x.com" } });
  await whenQuiet(ctx);

  expect(summary.typos).toEqual([{ domain: "gmial.com", meant: "gmail.com", count: 2 }]);
  expect((await readJob(ctx)).summary).toMatchObject({
    typos: [],
    top_domains: [{ domain: "x.com", count: 3 }],
  });

  expect(data).toMatchObject({ rows: 2, credits_used: 2 });
  expect(formatRows(await readJob(ctx))).toEqual([
    "2 ann@x.com valid",
    "3 bob@x.com unknown",
    "4 dee@x.com valid",
  ]);
  const [, first] = await readCsv(ctx);
  expect(first).toMatch(/^ann@gmial\.com,Ann,ann@x\.com,valid,/);
  await thenConsistent(ctx);
});

test("a row corrected to another row's address gets that row's result free of charge, as a duplicate", async () => {
  const ctx = await givenList(
    "email,name\nann@gmial.com,Ann\nAnn@x.com,Ann\nbob@gmial.com,Bob\ncy@gmial.com,Cy\nbob@x.com,Bob\n",
  );

  const { data } = await whenAgain(ctx, { correct: { domain: "gmial.com", meant: "x.com" } });
  await whenQuiet(ctx);
  const csv = await readCsv(ctx);

  expect(data).toMatchObject({ rows: 1, duplicates: 2, credits_used: 1 });
  expect(formatRows(await readJob(ctx))).toEqual([
    "2 Ann@x.com valid",
    "3 Ann@x.com valid",
    "4 bob@x.com unknown",
    "5 cy@x.com unknown",
    "6 bob@x.com unknown",
  ]);
  const marked = csv.filter((line) => line.split(",").includes("duplicate"));
  expect(marked.map((line) => line.split(",")[0])).toEqual(["ann@gmial.com", "bob@gmial.com"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 94, spent: 6 });

  ctx.silent.clear();
  const again = await whenAgain(ctx, UNKNOWN, { idempotencyKey: "k2" });
  await whenQuiet(ctx);

  expect(again.data).toMatchObject({ rows: 2, duplicates: 1, credits_used: 2 });
  expect(await readJob(ctx)).toMatchObject({ progress: { processed: 5, valid: 5 } });
  expect((await readCsv(ctx)).filter((line) => line.includes(",duplicate"))).toHaveLength(2);
  await thenConsistent(ctx);
});

test("a child job whose rows all repeat others charges nothing and ends at once", async () => {
  const ctx = await givenList("email,name\nann@gmial.com,Ann\nann@x.com,Ann\n");

  const { data } = await whenAgain(ctx, { correct: { domain: "gmial.com", meant: "x.com" } });
  const parent = await readJob(ctx);

  expect(data).toMatchObject({ rows: 0, duplicates: 1, credits_used: 0 });
  expect(parent.child_job_id).toBeUndefined();
  expect(formatRows(parent)).toEqual(["2 ann@x.com valid", "3 ann@x.com valid"]);
  expect(await readJob(ctx, data.job_id)).toMatchObject({ status: "completed" });
  await thenConsistent(ctx);
});

test("a repeated child job request returns the same response for free, even after the parent's deletion", async () => {
  const ctx = await givenList();
  const [first, second] = await Promise.all([whenAgain(ctx, UNKNOWN), whenAgain(ctx, UNKNOWN)]);
  await whenQuiet(ctx);
  await send(ctx.world, "DELETE /v1/jobs/job_1", { key: ctx.liveKey });

  const third = await whenAgain(ctx, UNKNOWN);

  expect([first, second, third].map(({ data }) => data.job_id)).toEqual([
    first.data.job_id,
    first.data.job_id,
    first.data.job_id,
  ]);
  expect(third.data).toMatchObject({ credits_used: 0, idempotent_replay: true });
  expect(listMoves(ctx).filter((move) => move === "charge 3")).toHaveLength(1);
  await thenConsistent(ctx);
});

test("a second child job beside a running one answers 409 and charges nothing", async () => {
  const ctx = await givenList();
  const [one, two] = await Promise.all([
    whenAgain(ctx, UNKNOWN),
    whenAgain(ctx, UNKNOWN, { idempotencyKey: "k2" }),
  ]);
  const third = await whenAgain(ctx, UNKNOWN, { idempotencyKey: "k3" });

  expect([one.statusCode, two.statusCode].filter((status) => status === 202)).toHaveLength(1);
  expect(third).toMatchObject({ statusCode: 409, error: { code: "JOB_OPEN" } });
  expect(await readCredits(ctx)).toMatchObject({ available: 92 });
});

test.each([
  ["a filter without a matching row", { filter: "status:spam_trap" }, 400, "INVALID_REQUEST"],
  ["no filter", {}, 400, "INVALID_REQUEST"],
  ["an invalid domain", { correct: { domain: "-", meant: "x.com" } }, 400, "INVALID_REQUEST"],
])("a child job with %s is refused without a charge", async (_what, body, status, code) => {
  const ctx = await givenList();
  const { available } = await readCredits(ctx);

  const response = await whenAgain(ctx, body);

  expect(response).toMatchObject({ statusCode: status, error: { code } });
  expect(response.error.message).toContain("Nothing was charged.");
  expect((await readCredits(ctx)).available).toBe(available);
});

test("a parent shows the finished rows of its child while the child's other rows wait", async () => {
  const ctx = await givenWaitingChild();

  const parent = await readJob(ctx);

  expect(parent).toMatchObject({
    child_job_id: ctx.child,
    progress: { valid: 2, unknown: 2 },
    summary: { statuses: { valid: 2, unknown: 2 } },
  });
  expect(formatRows(parent).slice(0, 2)).toEqual(["2 ann@x.com valid", "3 bob@x.com valid"]);
  await thenConsistent(ctx);
});

/** bob is unknown, and the greylisted row waits for its last attempt. */
const givenWaitingList = async (rows: number) => {
  const silent = new Set(["bob"]);
  const ctx = await givenSilent(silent, rows);
  await whenBatched(ctx.world, ctx.liveKey, {
    emails: ["ann@x.com", "bob@x.com", "greylisted@x.com"],
  });
  for (let minute = 0; minute < 8; minute++) {
    await whenWorked(ctx);
    ctx.later(60_000);
    await whenReconciled(ctx);
  }
  await whenWorked(ctx);
  silent.clear();
  return ctx;
};

test.each([1, 2, 3])(
  "a child job verifies the finished rows of a waiting list again, in chunks of %i",
  async (rows) => {
    const ctx = await givenWaitingList(rows);
    expect(await readJob(ctx)).toMatchObject({ status: "processing", progress: { processed: 2 } });

    const again = await whenAgain(ctx, UNKNOWN);
    await whenWorked(ctx);

    expect(again).toMatchObject({ statusCode: 202, data: { rows: 1, credits_used: 1 } });
    expect(await readJob(ctx)).toMatchObject({
      status: "processing",
      deferred: { count: 1 },
      progress: { processed: 2, valid: 2, unknown: 0 },
    });
    await whenQuiet(ctx);
    const ended = await readJob(ctx);
    expect(ended).toMatchObject({
      status: "completed",
      progress: { total: 3, processed: 3, valid: 2, unknown: 1 },
      summary: { statuses: { valid: 2, unknown: 1 } },
    });
    expect(formatRows(ended)).toEqual([
      "1 ann@x.com valid",
      "2 bob@x.com valid",
      "3 greylisted@x.com unknown",
    ]);
    expect(await readCredits(ctx)).toMatchObject({ available: 96, spent: 4, held: 0 });
    await thenConsistent(ctx);
  },
);

test("a parent counts both its own attempt and its child's on one chunk when both run at once", async () => {
  const ctx = await givenWaitingList(3);
  await whenAgain(ctx, UNKNOWN);
  let isFirst = true;
  const world = withTable(ctx, {
    transact: async (writes, attempt) => {
      const isOfList = writes.some(
        (write) => "update" in write && write.update.pk === "CHUNKS#job_1",
      );
      if (isOfList && isFirst) {
        isFirst = false;
        // The child is done before the pass of its parent is stored.
        await whenWorked(ctx);
      }
      return ctx.table.transact(writes, attempt);
    },
  });
  ctx.later(30 * 60_000);
  await whenReconciled(ctx);
  const [message] = await ctx.queue.receive(verifyChunk.queue, { max: 1, waitMs: 0 });
  const [other] = await ctx.queue.receive(verifyChunk.queue, { max: 1, waitMs: 0 });
  const bodies = [message, other].flatMap((one) => one?.body ?? []);
  const ofList = bodies.find((body) => (body as { job: string }).job === "job_1");
  const ofChild = bodies.find((body) => body !== ofList);

  await ctx.queue.sendMany(verifyChunk.queue.name, [{ body: ofChild ?? null }]);
  await verifyChunk.handle(world, ofList ?? null);

  expect(isFirst).toBe(false);
  const job = await readJob(ctx);
  expect(job).toMatchObject({ progress: { processed: 3, valid: 2, unknown: 1 } });
  expect(formatRows(job)).toHaveLength(3);
  await thenConsistent(ctx);
});

test("a cancelled child job keeps its results in the parent and refunds the rest", async () => {
  const ctx = await givenWaitingChild();

  const cancelled = await send(ctx.world, `POST /v1/jobs/${ctx.child}/cancel`, {
    key: ctx.liveKey,
  });

  expect(cancelled.data).toMatchObject({ status: "cancelled", credits_refunded: 2 });
  const parent = await readJob(ctx);
  expect(parent.child_job_id).toBeUndefined();
  expect(parent).toMatchObject({ progress: { valid: 2, unknown: 2 } });
  await whenQuiet(ctx);
  await thenConsistent(ctx);
});

test("the next request completes a child job that an older process ended without its parent", async () => {
  const ctx = await givenList();
  ctx.silent.delete("bob");
  const { data } = await whenAgain(ctx, UNKNOWN);
  const older = withTable(ctx, {
    transact: (writes, attempt) =>
      ctx.table.transact(
        writes.filter((write) => !("update" in write && write.where?.["child"])),
        attempt,
      ),
  });
  await whenWorked({ ...ctx, world: older });
  const before = await findJob(ctx.table, "job_1");

  const next = await whenAgain(ctx, UNKNOWN, { idempotencyKey: "k2" });
  await whenQuiet(ctx);

  expect(before?.child).toBe(data.job_id);
  expect(next).toMatchObject({ statusCode: 202, data: { rows: 2 } });
  expect((await readJob(ctx)).child_job_id).toBeUndefined();
  await thenConsistent(ctx);
});

test("deleting a job with a child, or the child itself, is refused while the child runs", async () => {
  const ctx = await givenList();
  const { data } = await whenAgain(ctx, UNKNOWN);

  const [parent, child] = [
    await send(ctx.world, "DELETE /v1/jobs/job_1", { key: ctx.liveKey }),
    await send(ctx.world, `DELETE /v1/jobs/${data.job_id}`, { key: ctx.liveKey }),
  ];

  expect([parent, child].map(({ error }) => error.code)).toEqual(["JOB_OPEN", "JOB_OPEN"]);
  expect(parent.error.message).toContain(`Cancel ${data.job_id} first.`);
});
