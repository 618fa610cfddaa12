import {
  createExcludedWriter,
  type EncodedExcludedRow,
  openExcludedReader,
  toExcludedKey,
} from "@mailproof/core/intake/excluded-rows";
import type { Blobs } from "@mailproof/core/ports/blobs";
import { expect, test } from "vitest";
import { createMemoryBlobs } from "../../simulation/memory-blobs.ts";

const KEY = toExcludedKey("inputs/job_1.jsonl");
const createRows = (first: number, count: number): readonly EncodedExcludedRow[] =>
  Array.from({ length: count }, (_, n) => [first + n, "syntax.empty", "x".repeat(n % 50)]);

test("the rows are read in their order, as far as a reader asks for them", async () => {
  const blobs = createMemoryBlobs();
  const { write, end } = createExcludedWriter(blobs, KEY);
  const rows = createRows(1, 5_000);
  for (let from = 0; from < rows.length; from += 700) await write(rows.slice(from, from + 700));

  const summary = await end();

  expect(summary).toMatchObject({ key: KEY, rows: 5_000 });
  const { before, close } = openExcludedReader(blobs, {
    key: KEY,
    version: summary?.version ?? "",
  });
  const read = [];
  for (const row of [100, 101, 2_500, Infinity])
    for (let some = await before(row); some.length > 0; some = await before(row)) {
      expect(some.every(([number]) => number < row)).toBe(true);
      read.push(...some);
    }
  await close();
  expect(read).toEqual(rows);
});

test("without a row nothing is written", async () => {
  const blobs = createMemoryBlobs();
  const writer = createExcludedWriter(blobs, KEY);

  expect(await writer.end()).toBeNull();
  await writer.abort();
  expect(blobs.keys()).toEqual([]);
});

test("abandoned writing leaves nothing stored", async () => {
  const blobs = createMemoryBlobs();
  const { write, abort } = createExcludedWriter(blobs, KEY);
  await write(createRows(1, 10));

  await abort();

  expect(blobs.keys()).toEqual([]);
});

test.each<[string, Blobs["put"]]>([
  ["at once", () => Promise.reject(new Error("down"))],
  [
    "after its first block",
    async (_key, content) => {
      for await (const _ of content) throw new Error("down");
      return { version: "", bytes: 0 };
    },
  ],
])(
  "a store that fails %s is an error for the writer, which does not wait for it",
  async (_case, put) => {
    const { write } = createExcludedWriter({ put }, KEY);

    const writing = async () => {
      for (let from = 1; from < 100; from += 10) await write(createRows(from, 10));
    };

    await expect(writing()).rejects.toThrow("down");
  },
);

test("replaced rows do not count as those of the job", async () => {
  const blobs = createMemoryBlobs();
  const { write, end } = createExcludedWriter(blobs, KEY);
  await write(createRows(1, 1));
  await end();

  await expect(
    openExcludedReader(blobs, { key: KEY, version: "another" }).before(9),
  ).rejects.toThrow("gone");
});
