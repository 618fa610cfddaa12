import { type RowSelection, selectRows } from "@mailproof/core/find-rows/select-rows";
import { type RowOrder, type RowPosition, SORT_FIELDS } from "@mailproof/core/find-rows/sort-rows";
import type { Table } from "@mailproof/core/ports/table";
import { buildIndexWrites } from "@mailproof/core/rows/row-index";
import type { Verification } from "@mailproof/core/verify/result";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { START } from "../../app/given.ts";
import { memoryTable } from "../../simulation/memory-table.ts";

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
