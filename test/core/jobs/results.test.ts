import { PAGE_ROWS, pageItem, pageKey, readPage } from "@mailproof/core/jobs/results";
import { verify } from "@mailproof/core/verify/verify";
import { serialise } from "@mailproof/core/writes";
import { expect, test } from "vitest";
import { givenWorld } from "../../given.ts";

const PLACE = { job: "job_1", chunk: 0, page: 0 };

const givenRows = async (count: number, includeEvidence = false) => {
  const { world, table } = givenWorld();
  const options = { deepVerify: true, includeAi: true, includeEvidence };
  const rows = [];
  for (let row = 1; row <= count; row++)
    rows.push({ row, result: await verify(world.engine, `ann.${row}@c${row}.example`, options) });
  return { rows, table };
};

test.each([0, 1, PAGE_ROWS])(
  "a page of %d rows is read as it was written, from the table",
  async (count) => {
    const { rows, table } = await givenRows(count);
    await table.write({ put: pageItem(PLACE, rows, 2_000_000_000) });

    const item = await table.get(pageKey("job_1", 0, 0));

    expect(item && readPage(item)).toEqual(rows);
  },
);

test("the numbers of rows are the file's own: holes and leaps stay", async () => {
  const { rows } = await givenRows(3);
  const [one, two, three] = rows;
  const spread = [
    { ...one!, row: 2 },
    { ...two!, row: 7 },
    { ...three!, row: 500_001 },
  ];

  expect(readPage(pageItem(PLACE, spread, 1)).map(({ row }) => row)).toEqual([2, 7, 500_001]);
});

test("a full page is a tenth of an item's limit at most", async () => {
  const { rows } = await givenRows(PAGE_ROWS);

  expect(serialise(pageItem(PLACE, rows, 1)).length).toBeLessThan(25_000);
});

test("a full page with all its evidence still fits an item", async () => {
  const { rows } = await givenRows(PAGE_ROWS, true);

  expect(() => serialise(pageItem(PLACE, rows, 1))).not.toThrow();
});

test("pages stand in the order of their numbers, however many digits those have", () => {
  const sks = [0, 1, 9, 10, 99, 100, 999].map((page) => pageKey("job_1", 0, page).sk);

  expect(sks.toSorted()).toEqual(sks);
});

test("each chunk has a partition of its own", () => {
  const partitions = [0, 1, 2].map((chunk) => pageKey("job_1", chunk, 0).pk);

  expect(new Set(partitions).size).toBe(3);
});
