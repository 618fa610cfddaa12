import type { Blobs } from "@mailproof/core/blobs";
import {
  excludedKeyOf,
  excludedReader,
  excludedWriter,
  type WrittenExcludedRow,
} from "@mailproof/core/jobs/excluded-rows";
import { expect, test } from "vitest";
import { memoryBlobs } from "../../simulation/memory-blobs.ts";

const KEY = excludedKeyOf("inputs/job_1.jsonl");
const rowsFrom = (first: number, count: number): readonly WrittenExcludedRow[] =>
  Array.from({ length: count }, (_, n) => [first + n, "syntax.empty", "x".repeat(n % 50)]);

test("the rows come back in their order, as far as a reader asks for them", async () => {
  const blobs = memoryBlobs();
  const { write, end } = excludedWriter(blobs, KEY);
  const rows = rowsFrom(1, 5_000);
  for (let from = 0; from < rows.length; from += 700) await write(rows.slice(from, from + 700));

  const facts = await end();

  expect(facts).toMatchObject({ key: KEY, rows: 5_000 });
  const { before, close } = excludedReader(blobs, { key: KEY, version: facts?.version ?? "" });
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
  const blobs = memoryBlobs();
  const writer = excludedWriter(blobs, KEY);

  expect(await writer.end()).toBeNull();
  await writer.abort();
  expect(blobs.keys()).toEqual([]);
});

test("what is given up leaves nothing behind", async () => {
  const blobs = memoryBlobs();
  const { write, abort } = excludedWriter(blobs, KEY);
  await write(rowsFrom(1, 10));

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
])("a store that fails %s is an error to who writes, and is not waited for", async (_case, put) => {
  const { write } = excludedWriter({ put }, KEY);

  const writing = async () => {
    for (let from = 1; from < 100; from += 10) await write(rowsFrom(from, 10));
  };

  await expect(writing()).rejects.toThrow("down");
});

test("rows that were replaced are not taken for those of the job", async () => {
  const blobs = memoryBlobs();
  const { write, end } = excludedWriter(blobs, KEY);
  await write(rowsFrom(1, 1));
  await end();

  await expect(excludedReader(blobs, { key: KEY, version: "another" }).before(9)).rejects.toThrow(
    "gone",
  );
});
