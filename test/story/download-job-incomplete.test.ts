import { CHUNKS_QUEUE } from "@mailproof/core/rows/chunk-messages";
import { toChunkKey } from "@mailproof/core/rows/chunks";
import { toJobKey } from "@mailproof/core/rows/items";
import { expect, test } from "vitest";
import { whenReconciled } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { getJson, getRecords, whenExported } from "../things/downloads.ts";
import {
  createRows,
  givenFileJob,
  givenJobOf,
  givenSmallChunks,
  RETENTION_SECONDS,
  verifyEmail,
  whenChunkIsGone,
  whenMessagesWorked,
  whenPagesAreGone,
} from "../things/export-jobs.ts";

// Downloads of jobs that run, have failed, or lack stored rows.

test("the download of a running job contains the rows so far and is marked incomplete", async () => {
  const ctx = await givenSmallChunks();
  const { world, liveKey } = ctx;
  const list = ["ann@x.com", "bob@x.com", "cy@x.com", "dan@x.com", "eve@x.com"];
  const job = await givenFileJob(ctx, {
    text: `id,email\n${list.map((e, n) => `${n},${e}`).join("\n")}\n`,
  });
  await whenMessagesWorked(ctx, 2);

  const json = await getJson(world, liveKey, {}, job);
  const csv = await whenExported(world, liveKey, {}, job);

  expect(json).toMatchObject({ complete: false, expected_rows: 4, rows_missing: 0 });
  expect(json.rows.map(({ email }: { email: string }) => email)).toEqual(list.slice(0, 4));
  expect(csv.headers["content-disposition"]).toContain("-results-so-far.csv");
  expect(
    getRecords(csv.text)
      .map(([id, email]) => [id, email])
      .slice(1),
  ).toEqual(list.slice(0, 4).map((email, n) => [String(n), email]));
});

test("the downloaded rows of later chunks keep their own cells while the first chunk is being verified", async () => {
  const ctx = await givenSmallChunks();
  const { world, liveKey, queue } = ctx;
  const text = "id,email\n1,ann@x.com\n2,bob@x.com\n3,cy@x.com\n4,dan@x.com\n5,eve@x.com\n";
  const job = await givenFileJob(ctx, { text });
  await queue.receive(CHUNKS_QUEUE, { max: 1, waitMs: 0 });
  await whenMessagesWorked(ctx);

  const records = getRecords((await whenExported(world, liveKey, {}, job)).text);

  expect(records.slice(1).map(([id, email]) => [id, email])).toEqual([
    ["3", "cy@x.com"],
    ["4", "dan@x.com"],
    ["5", "eve@x.com"],
  ]);
});

test("the download of a job that progresses during the read reports no missing rows and counts its own", async () => {
  const ctx = await given();
  const rows = createRows(await verifyEmail(ctx.world, "ann@x.com"), 3);
  await givenJobOf(ctx, [rows], { status: "processing", total: 9, processed: 1, valid: 1 });

  const json = await getJson(ctx.world, ctx.liveKey);

  expect(json).toMatchObject({ complete: false, expected_rows: 3, rows_missing: 0 });
  expect(json.rows).toHaveLength(3);
});

test("the downloaded rows of a later attempt keep their own cells", async () => {
  const ctx = await givenSmallChunks(4);
  const { world, liveKey, later } = ctx;
  const text = "id,email\n1,greylisted@x.com\n2,ann@x.com\n3,greylisted@y.com\n4,bob@x.com\n";
  const job = await givenFileJob(ctx, { text });
  await whenMessagesWorked(ctx);

  const before = getRecords((await whenExported(world, liveKey, {}, job)).text);
  expect(before.slice(1).map(([id]) => id)).toEqual(["2", "4"]);

  for (const minutes of [10, 40]) {
    later(minutes * 60_000);
    await whenReconciled(ctx);
    await whenMessagesWorked(ctx);
  }
  const after = getRecords((await whenExported(world, liveKey, {}, job)).text);
  expect(after.slice(1).map(([id, email]) => [id, email])).toEqual([
    ["1", "greylisted@x.com"],
    ["2", "ann@x.com"],
    ["3", "greylisted@y.com"],
    ["4", "bob@x.com"],
  ]);

  // The pages of the first pass are older than the chunk: they are not to go before it.
  later(RETENTION_SECONDS * 1_000 - 60_000);
  expect(await getJson(world, liveKey, {}, job)).toMatchObject({ complete: true, rows_missing: 0 });
});

test("the download of a failed job never claims to be complete", async () => {
  const ctx = await given();
  const rows = createRows(await verifyEmail(ctx.world, "ann@x.com"), 3);
  await givenJobOf(ctx, [rows], { status: "failed", error: "It broke." });

  expect(await getJson(ctx.world, ctx.liveKey)).toMatchObject({
    complete: false,
    expected_rows: 3,
    rows_missing: 0,
  });
});

test("a CSV that is known to be short answers a retryable 409, and JSON reports the missing rows", async () => {
  const ctx = await given();
  const { world, liveKey, table } = ctx;
  const rows = createRows(await verifyEmail(world, "ann@x.com"), 7);
  await givenJobOf(ctx, [rows.slice(0, 2), rows.slice(2, 5), rows.slice(5)]);
  await whenChunkIsGone(table, "job_1", 1);

  const csv = await whenExported(world, liveKey);
  const json = await getJson(world, liveKey);

  expect(csv).toMatchObject({
    statusCode: 409,
    error: {
      code: "NOT_READY",
      retryable: true,
      details: { expected_rows: 7, rows_missing: 3 },
    },
  });
  expect(csv.error.message).toMatch(/^3 of 7 rows .*format=json.* Nothing was charged\.$/);
  expect(json).toMatchObject({
    statusCode: 200,
    complete: false,
    expected_rows: 7,
    rows_missing: 3,
  });
  expect(json.rows.map(({ row }: { row: number }) => row)).toEqual([1, 2, 6, 7]);
});

test("a CSV download answers 409 when rows are missing before the first byte is sent", async () => {
  const ctx = await given();
  const { world, liveKey, table } = ctx;
  const rows = createRows(await verifyEmail(world, "ann@x.com"), 7);
  await givenJobOf(ctx, [rows.slice(0, 2), rows.slice(2)]);
  await whenPagesAreGone(table, "job_1", 0);

  expect(await whenExported(world, liveKey)).toMatchObject({
    statusCode: 409,
    error: { retryable: true, details: { expected_rows: 7, rows_missing: 2 } },
  });
  expect(await getJson(world, liveKey)).toMatchObject({
    complete: false,
    expected_rows: 7,
    rows_missing: 2,
  });
});

test("a CSV answers 409 when one row of a chunk cannot be read", async () => {
  const ctx = await given();
  const { world, liveKey, table } = ctx;
  await givenJobOf(ctx, [createRows(await verifyEmail(world, "ann@x.com"), 3)]);
  await table.write({ update: toChunkKey("job_1", 0), add: { rows: 1 } });
  await table.write({ update: toJobKey("job_1"), add: { total: 1, processed: 1, valid: 1 } });

  expect(await whenExported(world, liveKey)).toMatchObject({
    statusCode: 409,
    error: { retryable: true, details: { expected_rows: 4, rows_missing: 1 } },
  });
});

test("a CSV aborts when a later row proves missing", async () => {
  const ctx = await given();
  const { world, liveKey, table } = ctx;
  const rows = createRows(await verifyEmail(world, "ann@x.com"), 4);
  await givenJobOf(ctx, [rows.slice(0, 2), rows.slice(2)]);
  await whenPagesAreGone(table, "job_1", 1);

  await expect(whenExported(world, liveKey)).rejects.toThrow("2 of 4 rows");
});

test.each(["csv", "json"])(
  "a download answers a retryable 409 when no row can be read yet: %s",
  async (format) => {
    const ctx = await given();
    const { world, liveKey, table } = ctx;
    await givenJobOf(ctx, [createRows(await verifyEmail(world, "ann@x.com"), 3)]);
    await whenChunkIsGone(table, "job_1", 0);

    const refused = await whenExported(world, liveKey, { format });

    expect(refused).toMatchObject({
      statusCode: 409,
      error: {
        code: "NOT_READY",
        retryable: true,
        details: { expected_rows: 3, rows_missing: 3 },
      },
    });
    expect(refused.error.message).toMatch(/rows can be read: retry .* Nothing was/);
  },
);

test("a CSV aborts when every page is gone and every chunk remains", async () => {
  const ctx = await given();
  const { world, liveKey, table } = ctx;
  await givenJobOf(ctx, [createRows(await verifyEmail(world, "ann@x.com"), 3)]);
  await whenPagesAreGone(table, "job_1", 0);

  for (const format of ["csv", "json"])
    expect((await whenExported(world, liveKey, { format })).statusCode).toBe(409);
});
