import type { AppWorld } from "@mailproof/core/app-world";
import type { VerifiedRow } from "@mailproof/core/jobs/results";
import { expect, test } from "vitest";
import { getJson, getRecords, whenExported } from "../downloads.ts";
import { whenReconciled, whenWorked } from "../drain-queues.ts";
import { createRows, givenJobOf, verifyEmail, whenPagesAreGone } from "../export-jobs.ts";
import { given } from "../given.ts";

// An export that a request cannot make in time is made by a worker, in parts. The request waits for it.

const ROWS = 5_200;

/** More rows than an answer holds, in three parts. A spam trap is among them every hundred rows. */
const givenLarge = async (also: Parameters<typeof givenJobOf>[2] = {}) => {
  const ctx = await given();
  const good = await verifyEmail(ctx.world, "ann@x.com");
  const trap = await verifyEmail(ctx.world, "spam_trap@x.com");
  const rows = createRows(good, ROWS).map(
    ({ row, result }): VerifiedRow =>
      row % 100 === 0 ? { row, result: { ...trap, email: result.email } } : { row, result },
  );
  const chunks = [rows.slice(0, 2_000), rows.slice(2_000, 4_000), rows.slice(4_000)];
  await givenJobOf(ctx, chunks, { name: "Big", valid: 5_148, risky: 52, ...also });
  const exportRows = { inRequest: 5_000, part: 2_000 };
  return { ...ctx, world: { ...ctx.world, settings: { ...ctx.world.settings, exportRows } } };
};

/** What the file behind a link holds. */
const readFile = async ({ blobs }: Pick<AppWorld, "blobs">, url: string): Promise<string> => {
  const [, key = ""] = /(exports\/[^?]+)\?/.exec(url) ?? [];
  const object = await blobs.get(key);
  return Buffer.concat(await Array.fromAsync(object?.content ?? [])).toString();
};

test("a request waits twenty seconds for the file; then it is 409 with Retry-After, and the same request has the link", async () => {
  const ctx = await givenLarge();
  const startMs = ctx.world.now().getTime();

  const first = await whenExported(ctx.world, ctx.liveKey, { format: "json" });
  expect(first.statusCode).toBe(409);
  expect(first.error).toMatchObject({
    code: "NOT_READY",
    money: "nothing_charged",
    retryable: true,
    message: expect.stringContaining("is being made"),
  });
  expect(first.error).not.toHaveProperty("details");
  expect(first.headers["retry-after"]).toBe("2");
  expect(ctx.world.now().getTime() - startMs).toBe(20_000);
  await whenWorked(ctx);

  const { download_url, ...link } = await getJson(ctx.world, ctx.liveKey);
  expect(link).toMatchObject({ statusCode: 200, complete: true, expected_rows: ROWS });
  expect((await getJson(ctx.world, ctx.liveKey)).download_url).toContain(
    download_url.slice(0, download_url.indexOf("?")),
  );
  const { rows, ...metadata } = JSON.parse(await readFile(ctx, download_url));
  expect(metadata).toMatchObject({ complete: true, expected_rows: ROWS, rows_missing: 0 });
  expect(rows.map(({ row }: { row: number }) => row)).toEqual(
    Array.from({ length: ROWS }, (_, at) => at + 1),
  );
});

test("a request that waits has the link as soon as a worker has made the file", async () => {
  const ctx = await givenLarge();
  const startMs = ctx.world.now().getTime();
  const work = ctx.world.sleep(3_000).then(() => whenWorked(ctx));

  const { statusCode, complete, expected_rows, rows_missing } = await getJson(
    ctx.world,
    ctx.liveKey,
  );

  await work;
  expect({ statusCode, complete, expected_rows, rows_missing }).toEqual({
    statusCode: 200,
    complete: true,
    expected_rows: ROWS,
    rows_missing: 0,
  });
  expect(ctx.world.now().getTime() - startMs).toBeLessThan(5_000);
});

test("a CSV is streamed however many rows it has", async () => {
  const ctx = await givenLarge();
  const inline = await whenExported(ctx.world, ctx.liveKey);
  expect(inline.statusCode).toBe(200);
  expect(getRecords(inline.text)).toHaveLength(ROWS + 1);
});

test("an export with a filter is counted and made by one worker", async () => {
  const ctx = await givenLarge({ valid: 5_148 });

  const pending = await getJson(ctx.world, ctx.liveKey, { filter: "valid" });
  expect(pending).toMatchObject({ statusCode: 409, error: { code: "NOT_READY" } });
  await whenWorked(ctx);

  const { download_url, ...link } = await getJson(ctx.world, ctx.liveKey, { filter: "valid" });
  expect(link).toMatchObject({ statusCode: 200, expected_rows: 5_148, rows_missing: 0 });
  const { rows } = JSON.parse(await readFile(ctx, download_url));
  expect(rows).toHaveLength(5_148);
});

test("a filter that leaves few enough is answered at once", async () => {
  const { world, liveKey } = await givenLarge();

  expect((await getJson(world, liveKey, { filter: "spam_trap" })).rows).toHaveLength(52);
});

test("the export of a running job has the rows so far", async () => {
  const ctx = await givenLarge({ status: "processing", total: 6_000 });

  expect(await getJson(ctx.world, ctx.liveKey)).toMatchObject({
    statusCode: 409,
  });
  await whenWorked(ctx);

  expect(await getJson(ctx.world, ctx.liveKey)).toMatchObject({
    statusCode: 200,
    complete: false,
    rows_pending: 800,
    download_url: expect.stringContaining("exports/job_1/"),
  });
});

test("rows that turn out to be missing are 409, and the next request begins again", async () => {
  const ctx = await givenLarge();
  await whenPagesAreGone(ctx.table, "job_1", 1);
  await getJson(ctx.world, ctx.liveKey);
  await whenWorked(ctx);

  const refused = await whenExported(ctx.world, ctx.liveKey, { format: "json" });
  expect(refused.statusCode).toBe(409);
  expect(refused.error).toMatchObject({
    code: "NOT_READY",
    retryable: true,
    details: { expected_rows: ROWS, rows_missing: 2_000 },
  });
  expect((await getJson(ctx.world, ctx.liveKey)).statusCode).toBe(409);
});

test("a file that is gone is made again", async () => {
  const ctx = await givenLarge();
  await getJson(ctx.world, ctx.liveKey);
  await whenWorked(ctx);
  for (const key of ctx.blobs.keys()) await ctx.blobs.remove(key);

  expect((await getJson(ctx.world, ctx.liveKey)).statusCode).toBe(409);
});

test("an export that a crash left is completed by the reconciler", async () => {
  const ctx = await givenLarge();
  const withoutQueue = { ...ctx.world, queue: { ...ctx.queue, sendMany: async () => [] } };
  expect((await getJson(withoutQueue, ctx.liveKey)).statusCode).toBe(409);
  ctx.later(130_000);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect((await getJson(ctx.world, ctx.liveKey)).statusCode).toBe(200);
});
