import { decodeReadProgress, encodeReadProgress } from "@mailproof/core/find-rows/result-cursor";
import {
  NOTHING_READ,
  type ReadProgress,
  readResultPage,
} from "@mailproof/core/find-rows/result-pages";
import { type RowSelection, selectRows } from "@mailproof/core/find-rows/select-rows";
import { type RowOrder, type RowPosition, SORT_FIELDS } from "@mailproof/core/find-rows/sort-rows";
import { signCursor } from "@mailproof/core/lib/cursor";
import type { Item, Table } from "@mailproof/core/ports/table";
import { serializeItem } from "@mailproof/core/ports/writes";
import { type Chunk, toChunkItem } from "@mailproof/core/rows/chunks";
import type { Job } from "@mailproof/core/rows/items";
import { readResultRows, toPageItems } from "@mailproof/core/rows/results";
import { buildIndexWrites } from "@mailproof/core/rows/row-index";
import type { Verification } from "@mailproof/core/verify/result";
import { verify } from "@mailproof/core/verify/verify";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { givenWorld, START } from "../../app/given.ts";
import { memoryTable } from "../../simulation/memory-table.ts";
import { createRandom } from "../../simulation/random.ts";
import { verifyEmail } from "../../things/export-jobs.ts";

// Selected rows compared with the plain way: filter a list of objects and sort it.

type Row = {
  readonly row: number;
  readonly status: Verification["status"];
  readonly score: number;
  readonly email: string;
};

/** Rows that are stored and read again, one pass after the other. */
const storeRows = async (
  chunks: readonly (readonly (readonly Row[])[])[],
  onRead: (pieces: number) => void = () => {},
  pause = async () => {},
) => {
  const stored = memoryTable(() => START);
  const table: Table = {
    ...stored,
    query: async (query) => {
      const page = await stored.query(query);
      if (query.pk.startsWith("INDEX#")) onRead(page.items.length);
      return page;
    },
  };
  const job = { id: "job_1", kind: "file" as const };
  const rows = chunks.flat(2).length;
  for (const [chunk, passes] of chunks.entries())
    for (const [pass, own] of passes.entries()) {
      const results = own.map(({ row, ...result }) => ({
        row,
        result: { ...result, reason: "accepted", provider: null } as unknown as Verification,
      }));
      for (const write of buildIndexWrites(
        { job, chunk, pass, token: `t${pass}` },
        results,
        EXPIRY,
      ))
        await table.write(write);
    }
  const indexed = { ...job, total: rows, chunkRows: chunks[0]?.flat().length ?? 1 };
  return (selection: RowSelection, start: Parameters<typeof selectRows>[3], limit: number) =>
    selectRows(table, indexed, selection, start, limit, pause);
};

const EXPIRY = START.getTime() / 1_000 + 3_600;

/** Chunks of two passes, whose rows are mixed. */
const Chunks = fc
  .array(
    fc.record({
      status: fc.constantFrom("valid" as const, "invalid" as const, "role" as const),
      score: fc.nat(5),
      email: fc.stringMatching(/^[ab]{0,3}$/),
      isLate: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  .map((drawn) => {
    const rows = drawn.map((one, at) => ({ ...one, row: at + 1 }));
    const chunks = Array.from({ length: Math.ceil(rows.length / 7) }, (_, at) =>
      rows.slice(at * 7, at * 7 + 7),
    );
    return chunks.map((rows) => [
      rows.filter(({ isLate }) => !isLate),
      rows.filter(({ isLate }) => isLate),
    ]);
  });

const Order = fc.record({ by: fc.constantFrom(...SORT_FIELDS), isDescending: fc.boolean() });

const sortPlainly = (rows: readonly Row[], { by, isDescending }: RowOrder): readonly Row[] =>
  rows.toSorted((a, b) => {
    const order = a[by] === b[by] ? 0 : a[by] < b[by] ? -1 : 1;
    return isDescending ? -order || a.row - b.row : order || a.row - b.row;
  });

test("each filter, text and order selects the same rows as filtering and sorting all rows", async () => {
  await fc.assert(
    fc.asyncProperty(
      Chunks,
      Order,
      fc.option(fc.stringMatching(/^[ab]{1,2}$/), { nil: undefined }),
      fc.subarray(["valid", "invalid", "role"] as const, { minLength: 1 }),
      fc.integer({ min: 1, max: 9 }),
      fc.nat(20),
      async (chunks, order, text, status, limit, offset) => {
        const selection = { filter: { status }, text, order };
        const expected = sortPlainly(
          chunks
            .flat(2)
            .filter((row) => status.includes(row.status) && row.email.includes(text ?? "")),
          order,
        ).map(({ row }) => row);

        const select = await storeRows(chunks);
        const part = await select(selection, { offset }, limit);
        expect(part.matching).toBe(expected.length);
        expect(part.found.map(({ row }) => row)).toEqual(expected.slice(offset, offset + limit));

        const all: number[] = [];
        let next: RowPosition | undefined;
        do {
          const start = next ? { after: next } : { offset: 0 };
          const page = await select(selection, start, limit);
          all.push(...page.found.map(({ row }) => row));
          next = page.hasMore ? page.found.at(-1) : undefined;
        } while (next);
        expect(all).toEqual(expected);
      },
    ),
  );
});

test("any page of a large list equals the slice of the whole sorted list, and reads the index twice at most", async () => {
  const ROWS = 40_000;
  const CHUNK = 2_000;
  const rows = Array.from({ length: ROWS }, (_, at): Row => {
    const mixed = (at * 7_919) % 20_000;
    return { row: at + 1, status: "valid", score: mixed % 3, email: `user${mixed}@x.com` };
  });
  const chunks = Array.from({ length: ROWS / CHUNK }, (_, at) => [
    rows.slice(at * CHUNK, (at + 1) * CHUNK),
  ]);
  let read = 0;
  const select = await storeRows(chunks, (items) => {
    read += items * CHUNK;
  });

  for (const by of ["email", "score"] as const)
    for (const isDescending of [false, true]) {
      const order = { by, isDescending };
      const sorted = sortPlainly(rows, order);
      for (const offset of [0, 1_999, 10_001, 24_500, 39_990, 50_000]) {
        read = 0;
        const { found } = await select({ filter: {}, text: undefined, order }, { offset }, 20);
        const expected = sorted.slice(offset, offset + 20);
        expect(found.map(({ row }) => row)).toEqual(expected.map(({ row }) => row));
        expect(read).toBeLessThanOrEqual(2 * ROWS);
      }
    }
});

test("the selection reads at most a slice of rows between two pauses, and holds at most three slices", async () => {
  const CHUNKS = 100;
  const SLICE_ROWS = 8_000;
  const rows = (chunk: number) =>
    Array.from({ length: 500 }, (_, at): Row => {
      const row = chunk * 500 + at + 1;
      return { row, status: "valid", score: 1, email: `ann${row}@x.com` };
    });
  const chunks = Array.from({ length: CHUNKS }, (_, chunk) => [rows(chunk)]);
  const read: number[] = [0];
  const select = await storeRows(
    chunks,
    (items) => {
      read[read.length - 1] = (read.at(-1) ?? 0) + items * 500;
    },
    async () => void read.push(0),
  );

  for (const offset of [0, 40_000]) {
    read.splice(0, read.length, 0);
    const order = { by: "email", isDescending: true } as const;
    const { found, matching } = await select({ filter: {}, text: "ann", order }, { offset }, 10);

    expect([found.length, matching]).toEqual([10, CHUNKS * 500]);
    // The first slice is read with those that follow it; then each pause lets one more be read.
    const [first = 0, ...others] = read;
    expect(first).toBeLessThanOrEqual(3 * SLICE_ROWS);
    expect(Math.max(...others)).toBeLessThanOrEqual(3 * SLICE_ROWS);
    expect(read.length).toBeGreaterThan((CHUNKS * 500) / SLICE_ROWS);
  }
});

test("the position of each row equals its index among the rows of its attempt", async () => {
  const row = (number: number): Row => ({
    row: number,
    status: "valid",
    score: 1,
    email: `ann${number}@x.com`,
  });
  const select = await storeRows([[[row(1), row(3)], [row(2)]]]);

  const { found } = await select(
    { filter: {}, text: undefined, order: { by: "row", isDescending: false } },
    { offset: 0 },
    10,
  );

  expect(
    found.map(({ chunk, token, at, row: number }) => ({ chunk, token, at, row: number })),
  ).toEqual([
    { chunk: 0, token: "t0", at: 0, row: 1 },
    { chunk: 0, token: "t1", at: 0, row: 2 },
    { chunk: 0, token: "t0", at: 1, row: 3 },
  ]);
});

const CHUNKS = 250;
const EXPIRES_AT = 2_000_000_000;

type OneJob = Pick<Job, "id" | "status">;
const RUNNING: OneJob = { id: "job_1", status: "processing" };
const OVER: OneJob = { id: "job_1", status: "completed" };

/** Each chunk has two rows: one of its first pass, and one that was deferred. */
const setupJob = async () => {
  const { world, table } = givenWorld();
  const result = await verifyEmail(world, "ann@x.com");
  const finish = async (chunk: number, passes: readonly string[]): Promise<void> => {
    const token = passes.at(-1) ?? "";
    const row = 2 * chunk + passes.length;
    const chunkKey = { job: "job_1", chunk, token };
    for (const page of toPageItems(chunkKey, [{ row, result }], EXPIRES_AT))
      await table.write({ put: page });
    const counts = { outcome: "done" as const, rows: passes.length, waiting: 2 - passes.length };
    const item: Item = toChunkItem({
      job: "job_1",
      chunk,
      ...counts,
      from: 0,
      to: 0,
      checksum: 0,
      again: 0,
      passes,
    });
    await table.write({ put: item });
  };
  return { table, finish };
};

/** Takes so many rows. */
const upTo = (limit: number) => {
  let taken = 0;
  return () => taken++ < limit;
};

const readTo = async (table: Table, job: OneJob, from: ReadProgress, limit: number) => {
  const pages: number[][] = [];
  for (let next: ReadProgress | undefined = from; ; ) {
    const page = await readResultPage(table, job, next, upTo(limit));
    pages.push(page.rows.map(({ row }) => row));
    if (!page.next || page.rows.length === 0) return { pages, next: page.next };
    next = page.next;
  }
};

test("a reader receives the late rows of many chunks in short pages, each row once", async () => {
  const { table, finish } = await setupJob();
  for (let chunk = 0; chunk < CHUNKS; chunk++) await finish(chunk, ["one"]);
  const early = await readTo(table, RUNNING, NOTHING_READ, 1_000);
  for (let chunk = 0; chunk < CHUNKS; chunk++) await finish(chunk, ["one", "two"]);

  const late = await readTo(table, OVER, early.next ?? NOTHING_READ, 1_000);

  expect(early.pages.map(({ length }) => length)).toEqual([100, 100, 50, 0]);
  expect(late.pages.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(late.next).toBeUndefined();
  const rows = [...early.pages, ...late.pages].flat().toSorted((a, b) => a - b);
  expect(rows).toEqual(Array.from({ length: 2 * CHUNKS }, (_row, n) => n + 1));
});

test("the cursor omits fully read chunks, and so stays short for a job that is read after its end", async () => {
  const { table, finish } = await setupJob();
  for (let chunk = 0; chunk < 20; chunk++) {
    await finish(chunk, ["one"]);
    await finish(chunk, ["one", "two"]);
  }

  const { next } = await readResultPage(table, OVER, NOTHING_READ, upTo(31));

  expect(next).toEqual({ before: 15, passes: [], partial: { chunk: 15, passes: 2, row: 32 } });
});

const CHUNKS_MAX = 1_000;

const getLength = (passes: readonly number[]): number => {
  const partial = { chunk: 999, passes: 9, row: 500_001 };
  const cursor = signCursor(
    { cursorSecret: "secret", cursorSecretBefore: null },
    "results",
    encodeReadProgress({ before: 0, passes, partial }),
  );
  return cursor.length;
};

test.each([
  ["no progress", NOTHING_READ],
  ["whole chunks only", { before: 12, passes: [] }],
  ["some passes of some chunks", { before: 3, passes: [1, 0, 2, 0, 0, 45, 100] }],
  ["a part of a chunk", { before: 0, passes: [1], partial: { chunk: 7, passes: 2, row: 3_502 } }],
])("a cursor decodes to the encoded progress: %s", (_case, delivered) => {
  expect(decodeReadProgress(encodeReadProgress(delivered))).toEqual(delivered);
});

test("a cursor of the largest job stays under 2,000 characters at any progress", () => {
  const chance = createRandom(1);
  const drawPasses = (attemptsMax: number) =>
    Array.from({ length: CHUNKS_MAX }, () => Math.floor(chance() * (attemptsMax + 1)));
  const lengths = [1, 2, 3, 6, 10, 40].map((attemptsMax) => getLength(drawPasses(attemptsMax)));

  expect(Math.max(...lengths)).toBeLessThan(2_000);
  expect(getLength(drawPasses(3)), "as four passes make it").toBeLessThan(900);
  expect(getLength(Array.from({ length: CHUNKS_MAX }, () => 1))).toBeLessThan(100);
});

const FULL = 100;
const CHUNK_KEY = { job: "job_1", chunk: 0, token: "one" };

const chunkWith = (...attempts: string[]): Chunk => {
  const done = { job: "job_1", chunk: 0, outcome: "done" as const };
  return { ...done, rows: 0, waiting: 0, from: 0, to: 0, checksum: 0, again: 0, passes: attempts };
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
  "the table returns %d rows of a chunk as the worker wrote them",
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

test("a reader receives the rows of several attempts in the input's order, without attempts that did not count", async () => {
  const { rows, table } = await givenRows(6);
  const of = (wanted: readonly number[]) => rows.filter(({ row }) => wanted.includes(row));
  const attempts = { one: [1, 4, 5], two: [2, 6], overtaken: [1, 2, 3] };
  for (const [token, wanted] of Object.entries(attempts))
    for (const page of toPageItems({ ...CHUNK_KEY, token }, of(wanted), EXPIRES_AT))
      await table.write({ put: page });

  const read = await readResultRows(table, chunkWith("one", "two"));

  expect(read.map(({ row }) => row)).toEqual([1, 2, 4, 5, 6]);
});

test("a full page takes at most a tenth of an item's limit, and fits an item with all evidence", async () => {
  const [page] = toPageItems(CHUNK_KEY, (await givenRows(FULL)).rows, EXPIRES_AT);
  const [heavy] = toPageItems(CHUNK_KEY, (await givenRows(FULL, true)).rows, EXPIRES_AT);

  expect(page && serializeItem(page).length).toBeLessThan(25_000);
  expect(() => heavy && serializeItem(heavy)).not.toThrow();
});

test("each chunk stores its pages in its own partition", async () => {
  const { rows } = await givenRows(1);
  const partitions = [0, 1, 2].map(
    (chunk) => toPageItems({ ...CHUNK_KEY, chunk }, rows, 1).next().value?.pk,
  );

  expect(new Set(partitions).size).toBe(3);
});
