import type { VerifiedRow } from "@mailproof/core/jobs/results";
import { expect, test } from "vitest";
import { getJson } from "../downloads.ts";
import {
  createRows,
  givenJobOf,
  type TestContext,
  verifyEmail,
  whenChunkIsGone,
} from "../export-jobs.ts";
import { given } from "../given.ts";
import { send } from "../send.ts";

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

test("up to 5,000 rows stand in the JSON itself, and more behind a link to the same", async () => {
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
  const { data } = await send(world, "GET /v1/jobs/job_1", { key: liveKey, query: { limit: "3" } });
  expect(rows.slice(0, 3)).toEqual(data.results);
});

test("of a large job a filter that leaves few enough is answered at once", async () => {
  const { world, liveKey, puts } = await givenLarge();

  const valid = await getJson(world, liveKey, { filter: "valid" });
  const trap = await getJson(world, liveKey, { filter: "spam_trap" });

  expect(valid.rows).toHaveLength(5_000);
  expect(trap.rows).toHaveLength(101);
  expect(puts.keys).toEqual([]);
});

test("a few rows that are too long for an answer are behind a link, too", async () => {
  const ctx = await given();
  const result = await verifyEmail(ctx.world, "ann@x.com");
  const long = { ...result.enrichment, full_name: "x".repeat(50_000) };
  await givenJobOf(ctx, [createRows({ ...result, enrichment: long }, 95)]);

  expect(await getJson(ctx.world, ctx.liveKey)).toHaveProperty("download_url");
});

test("the object behind a link is made once for a finished job, and again when rows have gone", async () => {
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

test("a job that goes on has a new object when it has more rows", async () => {
  const { world, liveKey, puts, table } = await givenLarge({ status: "processing", total: 6_000 });

  await getJson(world, liveKey);
  await getJson(world, liveKey);
  expect(puts.keys).toHaveLength(1);
  await table.write({ update: { pk: "JOB#job_1", sk: "JOB" }, add: { total: 1 } });
  const link = await getJson(world, liveKey);

  expect(link).toMatchObject({ complete: false, expected_rows: 5_101 });
  expect(puts.keys).toHaveLength(2);
});
