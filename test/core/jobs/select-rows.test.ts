import { buildIndexWrites, readRowIndex } from "@mailproof/core/jobs/row-index";
import { selectRows } from "@mailproof/core/jobs/select-rows";
import { type RowOrder, type RowPosition, SORT_FIELDS } from "@mailproof/core/jobs/sort-rows";
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
const toIndex = async (chunks: readonly (readonly (readonly Row[])[])[]) => {
  const table = memoryTable(() => START);
  const job = { id: "job_1", kind: "file" as const };
  const rows = chunks.flat(2).length;
  for (const [chunk, passes] of chunks.entries())
    for (const [pass, own] of passes.entries()) {
      const stored = own.map(({ row, ...result }) => ({
        row,
        result: { ...result, reason: "accepted", provider: null } as unknown as Verification,
      }));
      for (const write of buildIndexWrites({ job, chunk, pass, token: `t${pass}` }, stored, EXPIRY))
        await table.write(write);
    }
  return readRowIndex(table, { ...job, total: rows, chunkRows: chunks[0]?.flat().length ?? 1 });
};

const EXPIRY = START.getTime() / 1_000 + 3_600;

const pause = async () => {};

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

test("any filter, text and order selects what filtering and sorting all rows selects", async () => {
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

        const index = await toIndex(chunks);
        const part = await selectRows(index, selection, { offset }, limit, pause);
        expect(part.matching).toBe(expected.length);
        expect(part.found.map(({ row }) => row)).toEqual(expected.slice(offset, offset + limit));

        const all: number[] = [];
        let next: RowPosition | undefined;
        do {
          const start = next ? { after: next } : { offset: 0 };
          const page = await selectRows(index, selection, start, limit, pause);
          all.push(...page.found.map(({ row }) => row));
          next = page.next;
        } while (next);
        expect(all).toEqual(expected);
      },
    ),
  );
});

test("any slice of many addresses with the same beginning equals the slice of the whole sorted list", async () => {
  const emails = Array.from({ length: 8_000 }, (_, n) => `user${(n * 7_919) % 4_000}@x.com`);
  const rows = emails.map((email, at): Row => ({ row: at + 1, status: "valid", score: 1, email }));
  const index = await toIndex([[rows]]);

  for (const isDescending of [false, true])
    for (const offset of [0, 1_999, 4_500, 7_990]) {
      const order = { by: "email", isDescending } as const;
      const { found } = await selectRows(
        index,
        { filter: {}, text: undefined, order },
        { offset },
        20,
        pause,
      );
      const expected = sortPlainly(rows, order).slice(offset, offset + 20);
      expect(found.map(({ row }) => row)).toEqual(expected.map(({ row }) => row));
    }
});

test("the position of each row is its index among the rows of its pass", async () => {
  const row = (number: number): Row => ({
    row: number,
    status: "valid",
    score: 1,
    email: `ann${number}@x.com`,
  });
  const index = await toIndex([[[row(1), row(3)], [row(2)]]]);

  const { found } = await selectRows(
    index,
    { filter: {}, text: undefined, order: { by: "row", isDescending: false } },
    { offset: 0 },
    10,
    pause,
  );

  expect(found).toEqual([
    { chunk: 0, token: "t0", at: 0, row: 1 },
    { chunk: 0, token: "t1", at: 0, row: 2 },
    { chunk: 0, token: "t0", at: 1, row: 3 },
  ]);
});
