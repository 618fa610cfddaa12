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

test.each<[what: string, texts: readonly string[], areNew: readonly boolean[]]>([
  ["is new once", ["a@b.example", "a@b.example", "a@b.example"], [true, false, false]],
  ["is another in another case", ["a@b.example", "A@b.example"], [true, true]],
  ["may be empty", ["", ""], [true, false]],
  ["may go beyond ASCII", ["ü@b.example", "ü@b.example", "u@b.example"], [true, false, true]],
  ["may differ beyond one byte", ["\u0141", "A", "\u0141"], [true, true, false]],
  ["may be long", ["x".repeat(300), "x".repeat(301), "x".repeat(300)], [true, true, false]],
  [
    "may be as long as fits",
    ["x".repeat(255), "x".repeat(254), "x".repeat(255)],
    [true, true, false],
  ],
  [
    "is not another with the same hash",
    ["user449599@example.com", "user612382@example.com", "user449599@example.com"],
    [true, true, false],
  ],
])("a text %s", (_, texts, areNew) => {
  const seen = createTextSet(10);

  expect(texts.map((text, index) => seen.add(text, index + 1) === 0)).toEqual(areNew);
});

test("a set stays exact far beyond its planned size, and over its pages", () => {
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

test("the most frequent domain is the first, and a domain of one address is left out", () => {
  expect(listOf(["a@one.com", "a@two.com", "b@TWO.com", "a@x.com", "b@x.com", "c@x.com"])).toEqual([
    "x.com",
    "two.com",
  ]);
});

test("there are at most twenty", () => {
  const emails = Array.from({ length: 60 }, (_, n) => `ann${n}@d${n % 30}.com`);

  expect(listOf(emails)).toHaveLength(20);
});

test("in any order of addresses, a domain with more than its share of the counters is found", () => {
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
