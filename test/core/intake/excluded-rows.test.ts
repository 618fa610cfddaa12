import {
  createExcludedWriter,
  type EncodedExcludedRow,
  openExcludedReader,
  toExcludedKey,
} from "@mailproof/core/intake/excluded-rows";
import { createTextSet } from "@mailproof/core/intake/text-set";
import { createTopDomains } from "@mailproof/core/intake/top-domains";
import type { Blobs } from "@mailproof/core/ports/blobs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createMemoryBlobs } from "../../simulation/memory-blobs.ts";

const KEY = toExcludedKey("inputs/job_1.jsonl");
const createRows = (first: number, count: number): readonly EncodedExcludedRow[] =>
  Array.from({ length: count }, (_, n) => [first + n, "syntax.empty", "x".repeat(n % 50)]);

test("the reader returns the excluded rows in their order, as far as a caller asks", async () => {
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

test("the writer stores nothing without a row", async () => {
  const blobs = createMemoryBlobs();
  const writer = createExcludedWriter(blobs, KEY);

  expect(await writer.end()).toBeNull();
  await writer.abort();
  expect(blobs.keys()).toEqual([]);
});

test("the writer stores nothing when it is aborted", async () => {
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
  "the writer throws the error of a store that fails %s, and does not wait for the store",
  async (_case, put) => {
    const { write } = createExcludedWriter({ put }, KEY);

    const writing = async () => {
      for (let from = 1; from < 100; from += 10) await write(createRows(from, 10));
    };

    await expect(writing()).rejects.toThrow("down");
  },
);

test("the reader refuses excluded rows that another version replaced", async () => {
  const blobs = createMemoryBlobs();
  const { write, end } = createExcludedWriter(blobs, KEY);
  await write(createRows(1, 1));
  await end();

  await expect(
    openExcludedReader(blobs, { key: KEY, version: "another" }).before(9),
  ).rejects.toThrow("gone");
});

test.each<[what: string, texts: readonly string[], areNew: readonly boolean[]]>([
  [
    "the same text three times",
    ["a@b.example", "a@b.example", "a@b.example"],
    [true, false, false],
  ],
  ["a text in another case", ["a@b.example", "A@b.example"], [true, true]],
  ["an empty text", ["", ""], [true, false]],
  ["texts beyond ASCII", ["ü@b.example", "ü@b.example", "u@b.example"], [true, false, true]],
  ["texts that differ beyond one byte", ["\u0141", "A", "\u0141"], [true, true, false]],
  ["long texts", ["x".repeat(300), "x".repeat(301), "x".repeat(300)], [true, true, false]],
  [
    "texts of the greatest length",
    ["x".repeat(255), "x".repeat(254), "x".repeat(255)],
    [true, true, false],
  ],
  [
    "two texts with the same hash",
    ["user449599@example.com", "user612382@example.com", "user449599@example.com"],
    [true, true, false],
  ],
])("the text set decides whether a text is new: %s", (_, texts, areNew) => {
  const seen = createTextSet(10);

  expect(texts.map((text, index) => seen.add(text, index + 1) === 0)).toEqual(areNew);
});

test("the text set stays exact far beyond its planned size and over its pages", () => {
  const seen = createTextSet(1);
  const texts = Array.from({ length: 60_000 }, (_, index) => `someone.${index}@example.com`);

  expect(texts.every((text, index) => seen.add(text, index + 1) === 0)).toBe(true);
  expect(texts.map((text) => seen.add(text, 70_000))).toEqual([...texts.keys()].map((n) => n + 1));
});

const listOf = (emails: readonly string[], countersMax?: number) => {
  const domains = createTopDomains(countersMax);
  for (const email of emails) domains.add(email);
  return domains.list();
};

test("the list of top domains begins with the most frequent one, and omits a domain of one address", () => {
  expect(listOf(["a@one.com", "a@two.com", "b@TWO.com", "a@x.com", "b@x.com", "c@x.com"])).toEqual([
    "x.com",
    "two.com",
  ]);
});

test("the list of top domains contains at most twenty", () => {
  const emails = Array.from({ length: 60 }, (_, n) => `ann${n}@d${n % 30}.com`);

  expect(listOf(emails)).toHaveLength(20);
});

test("the list of top domains contains each domain above its share of the counters, in any order of addresses", () => {
  fc.assert(
    fc.property(
      fc
        .array(fc.nat(50), { maxLength: 300 })
        .chain((others) =>
          fc.shuffledSubarray(
            [
              ...others.map((n) => `a@d${n}.com`),
              ...Array.from({ length: Math.ceil(others.length / 3) + 2 }, () => "a@top.com"),
            ],
            { minLength: others.length + Math.ceil(others.length / 3) + 2 },
          ),
        ),
      (emails) => {
        // 8 counters, and more than a quarter of the addresses.
        expect(listOf(emails, 8)).toContain("top.com");
      },
    ),
  );
});
