import type { AppWorld } from "@mailproof/core/app-world";
import type { VerifiedRow } from "@mailproof/core/rows/results";
import { describe, expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { getJson, getRecords, whenExported } from "../things/downloads.ts";
import {
  createRows,
  givenJobOf,
  type TestContext,
  verifyEmail,
  whenChunkIsGone,
  whenPagesAreGone,
} from "../things/export-jobs.ts";

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

test("a download waits twenty seconds for the file, answers 409 with Retry-After, and later returns the link", async () => {
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

test("a waiting download returns the link as soon as a worker has written the file", async () => {
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

test("a CSV streams, however many rows it has", async () => {
  const ctx = await givenLarge();
  const inline = await whenExported(ctx.world, ctx.liveKey);
  expect(inline.statusCode).toBe(200);
  expect(getRecords(inline.text)).toHaveLength(ROWS + 1);
});

test("one worker counts and writes an export with a filter", async () => {
  const ctx = await givenLarge({ valid: 5_148 });

  const pending = await getJson(ctx.world, ctx.liveKey, { filter: "valid" });
  expect(pending).toMatchObject({ statusCode: 409, error: { code: "NOT_READY" } });
  await whenWorked(ctx);

  const { download_url, ...link } = await getJson(ctx.world, ctx.liveKey, { filter: "valid" });
  expect(link).toMatchObject({ statusCode: 200, expected_rows: 5_148, rows_missing: 0 });
  const { rows } = JSON.parse(await readFile(ctx, download_url));
  expect(rows).toHaveLength(5_148);
});

test("the export of a running job contains the rows so far", async () => {
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

test("an export answers 409 when rows prove missing, and the next request starts again", async () => {
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

test("a download exports the file again when it is gone", async () => {
  const ctx = await givenLarge();
  await getJson(ctx.world, ctx.liveKey);
  await whenWorked(ctx);
  for (const key of ctx.blobs.keys()) await ctx.blobs.remove(key);

  expect((await getJson(ctx.world, ctx.liveKey)).statusCode).toBe(409);
});

test("deleting a job removes the file of its export", async () => {
  const ctx = await givenLarge();
  await whenExported(ctx.world, ctx.liveKey, { format: "json" });
  await whenWorked(ctx);
  const { download_url } = await getJson(ctx.world, ctx.liveKey);
  expect(download_url).toContain("exports/job_1/");

  await send(ctx.world, "DELETE /v1/jobs/job_1", { key: ctx.liveKey });

  expect(ctx.blobs.keys()).toEqual([]);
});

describe("the link of a job's download", () => {
  // Large downloads are an object behind a link.

  /** A hundred more than an answer holds, and one; as many are spam traps. */
  const givenLarge = async (also: Parameters<typeof givenJobOf>[2] = {}) => {
    const ctx = await given();
    const good = createRows(await verifyEmail(ctx.world, "ann@x.com"), 5_000);
    const trap = await verifyEmail(ctx.world, "spam_trap@x.com");
    const traps = createRows(trap, 101).map(
      ({ row, result }): VerifiedRow => ({ row: 5_000 + row, result }),
    );
    const rows = [...good, ...traps];
    const chunks = [rows.slice(0, 2_500), rows.slice(2_500, 5_001), rows.slice(5_001)];
    await givenJobOf(ctx, chunks, { name: "Big", valid: 5_000, risky: 101, ...also });
    const puts = createCountedPuts(ctx);
    return { ...ctx, world: { ...ctx.world, blobs: puts.blobs }, puts };
  };

  const createCountedPuts = ({ blobs }: TestContext) => {
    const counted = {
      keys: [] as string[],
      blobs: {
        ...blobs,
        put: (key: string, content: AsyncIterable<Uint8Array>) => {
          counted.keys.push(key);
          return blobs.put(key, content);
        },
      },
    };
    return counted;
  };

  test("the JSON download contains up to 5,000 rows inline and links to the same JSON for more", async () => {
    const { world, liveKey, blobs, puts } = await givenLarge();

    const link = await getJson(world, liveKey);

    const { download_url, ...disposition } = link;
    expect(disposition).toEqual({
      statusCode: 200,
      format: "json",
      filter: "all",
      selection: "verified",
      complete: true,
      expected_rows: 5_101,
      rows_missing: 0,
      rows_pending: 0,
      expires_in_seconds: 900,
      expires_at: "2026-11-21T00:15:00.000Z",
    });
    const [key = ""] = puts.keys;
    expect(download_url).toContain(`/${key}?`);
    const object = await blobs.get(key);
    const fullExport = JSON.parse(
      Buffer.concat(await Array.fromAsync(object?.content ?? [])).toString(),
    );
    const { rows, ...fields } = fullExport;
    expect(fields).toEqual({
      format: "json",
      filter: "all",
      selection: "verified",
      complete: true,
      expected_rows: 5_101,
      rows_missing: 0,
      rows_pending: 0,
    });
    expect(rows.map(({ row }: { row: number }) => row)).toEqual(
      Array.from({ length: 5_101 }, (_, n) => n + 1),
    );
    const { data } = await send(world, "GET /v1/jobs/job_1", {
      key: liveKey,
      query: { limit: "3" },
    });
    expect(rows.slice(0, 3)).toEqual(data.results.map((row: object) => ({ ...row, send: "yes" })));
  });

  test("a filter returns the few matching rows of a large job at once", async () => {
    const { world, liveKey, puts } = await givenLarge();

    const valid = await getJson(world, liveKey, { filter: "valid" });
    const trap = await getJson(world, liveKey, { filter: "spam_trap" });

    expect(valid.rows).toHaveLength(5_000);
    expect(trap.rows).toHaveLength(101);
    expect(puts.keys).toEqual([]);
  });

  test("the JSON download links to its rows when they are few but too long for a response", async () => {
    const ctx = await given();
    const result = await verifyEmail(ctx.world, "ann@x.com");
    const long = { ...result.enrichment, full_name: "x".repeat(50_000) };
    await givenJobOf(ctx, [createRows({ ...result, enrichment: long }, 95)]);

    expect(await getJson(ctx.world, ctx.liveKey)).toHaveProperty("download_url");
  });

  test("the service writes the linked object once for a finished job, and again after rows are gone", async () => {
    const { world, liveKey, table, puts } = await givenLarge();

    await getJson(world, liveKey);
    const again = await getJson(world, liveKey);
    expect(again).toHaveProperty("download_url");
    expect(puts.keys).toHaveLength(1);

    await whenChunkIsGone(table, "job_1", 2);
    const short = await getJson(world, liveKey);
    expect(short).toMatchObject({ complete: false, expected_rows: 5_101, rows_missing: 100 });
    expect(new Set(puts.keys).size).toBe(2);
  });

  test("a running job links to a new object when more rows are ready", async () => {
    const { world, liveKey, puts, table } = await givenLarge({
      status: "processing",
      total: 6_000,
    });

    await getJson(world, liveKey);
    await getJson(world, liveKey);
    expect(puts.keys).toHaveLength(1);
    await table.write({ update: { pk: "JOB#job_1", sk: "JOB" }, add: { total: 1 } });
    const link = await getJson(world, liveKey);

    expect(link).toMatchObject({ complete: false, expected_rows: 5_101 });
    expect(puts.keys).toHaveLength(2);
  });
});
