import type { Chunk } from "@mailproof/core/jobs/chunks";
import { readResultRows, toPageItems } from "@mailproof/core/jobs/results";
import { serialiseItem } from "@mailproof/core/ports/writes";
import { verify } from "@mailproof/core/verify/verify";
import { expect, test } from "vitest";
import { givenWorld } from "../../given.ts";

const FULL = 100;
const CHUNK_KEY = { job: "job_1", chunk: 0, token: "one" };
const EXPIRES_AT = 2_000_000_000;

const chunkWith = (...attempts: string[]): Chunk => {
  const done = { job: "job_1", chunk: 0, outcome: "done" as const };
  return { ...done, rows: 0, waiting: 0, from: 0, to: 0, checksum: 0, passes: attempts };
};

const givenRows = async (count: number, includeEvidence = false) => {
  const { world, table } = givenWorld();
  const options = { deepVerify: true, includeAi: true, includeEvidence };
  const rows = [];
  for (let row = 1; row <= count; row++)
    rows.push({ row, result: await verify(world.engine, `ann.${row}@c${row}.example`, options) });
  return { rows, table };
};

test.each([0, 1, FULL, FULL + 1, 3 * FULL])(
  "%d rows of a chunk are read as they were written, from the table",
  async (count) => {
    const { rows, table } = await givenRows(count);
    const pages = [...toPageItems(CHUNK_KEY, rows, EXPIRES_AT)];
    for (const page of pages) await table.write({ put: page });

    expect(pages).toHaveLength(Math.ceil(count / FULL));
    expect(await readResultRows(table, chunkWith("one"))).toEqual(rows);
  },
);

test("rows keep the row numbers of the file, gaps included", async () => {
  const { rows, table } = await givenRows(3);
  const spread = rows.map((one, at) => ({ ...one, row: [2, 7, 500_001][at] ?? 0 }));
  for (const page of toPageItems(CHUNK_KEY, spread, EXPIRES_AT)) await table.write({ put: page });

  expect((await readResultRows(table, chunkWith("one"))).map(({ row }) => row)).toEqual([
    2, 7, 500_001,
  ]);
});

test("the rows of several passes are read in the order of the input, without those of a pass that did not count", async () => {
  const { rows, table } = await givenRows(6);
  const of = (wanted: readonly number[]) => rows.filter(({ row }) => wanted.includes(row));
  const attempts = { one: [1, 4, 5], two: [2, 6], overtaken: [1, 2, 3] };
  for (const [token, wanted] of Object.entries(attempts))
    for (const page of toPageItems({ ...CHUNK_KEY, token }, of(wanted), EXPIRES_AT))
      await table.write({ put: page });

  const read = await readResultRows(table, chunkWith("one", "two"));

  expect(read.map(({ row }) => row)).toEqual([1, 2, 4, 5, 6]);
});

test("a full page takes a tenth of an item's limit at most, and fits an item with all evidence", async () => {
  const [page] = toPageItems(CHUNK_KEY, (await givenRows(FULL)).rows, EXPIRES_AT);
  const [heavy] = toPageItems(CHUNK_KEY, (await givenRows(FULL, true)).rows, EXPIRES_AT);

  expect(page && serialiseItem(page).length).toBeLessThan(25_000);
  expect(() => heavy && serialiseItem(heavy)).not.toThrow();
});

test("each chunk has a partition of its own", async () => {
  const { rows } = await givenRows(1);
  const partitions = [0, 1, 2].map(
    (chunk) => toPageItems({ ...CHUNK_KEY, chunk }, rows, 1).next().value?.pk,
  );

  expect(new Set(partitions).size).toBe(3);
});
