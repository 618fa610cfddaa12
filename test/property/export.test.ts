import { createCsvReader } from "@mailproof/core/intake/csv-reader";
import fc from "fast-check";
import { expect, test } from "vitest";
import { send } from "../app/send.ts";
import { givenFileJob, givenSmallChunks, whenMessagesWorked } from "../things/export-jobs.ts";

/** What a list may hold: signs and letters that mean something to a reader, a writer or a spreadsheet. */
const cell = fc
  .array(
    fc.oneof(
      fc.stringMatching(/^[a-z0-9]{1,5}$/),
      fc.constantFrom(",", ";", "\t", "|", '"', "\n", "\r\n", " ", "é", "中", "'"),
      fc.constantFrom("=", "+", "-", "@", "+49 30 1234", "-5", "＝", "\u200b"),
    ),
    { maxLength: 4 },
  )
  .map((pieces) => pieces.join(""));

const email = fc.constantFrom(
  "ann@x.com",
  "Ann@X.com",
  " bob@x.com ",
  "Cy <cy@x.com>",
  "mailto:dan@x.com",
  "eve@x.com;",
  "ann@x.com, bob@x.com",
  "none",
  "",
  "=fay@x.com",
);

const list = fc.record({
  // The first row says what the delimiter and the column are.
  rows: fc.array(fc.tuple(cell, email, cell), { maxLength: 12 }),
  delimiter: fc.constantFrom(",", ";", "\t", "|"),
});

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
/** A cell as it may come back: unchanged, or with an apostrophe before what looks like a formula. */
const isSame = (outcome: string | undefined, was: string): boolean =>
  outcome === was || (outcome === `'${was}` && /^[=@\t\r\n＝＠+-]/.test(was));

test("with selection=all every cell of a list comes back in its place, or guarded", async () => {
  await fc.assert(
    fc.asyncProperty(list, async ({ rows, delimiter }) => {
      const ctx = await givenSmallChunks(3);
      const sent = [["1", "last@x.com", "2"], ...rows];
      const lines = [["a", "e-mail", "b"], ...sent].map((cells) =>
        cells.map(quoted).join(delimiter),
      );
      const job = await givenFileJob(ctx, { text: lines.join("\r\n") });
      await whenMessagesWorked(ctx);

      const options = { key: ctx.liveKey, query: { selection: "all" } };
      const { text, headers } = await send(ctx.world, `GET /v1/jobs/${job}/download`, options);

      const [header, ...records] = createCsvReader(delimiter)(text.replace(/^\ufeff/, ""), true);
      expect(header?.slice(0, 5)).toEqual(["a", "e-mail", "b", "row", "row_outcome"]);
      expect(records.map((cells) => Number(cells[3]))).toEqual(sent.map((_, n) => n + 2));
      const changed = sent.flatMap((cells, n) =>
        cells.filter((was, at) => !isSame(records[n]?.[at], was)),
      );
      expect(changed).toEqual([]);
      expect(headers["x-export-expected-rows"]).toBe(String(sent.length));
      const areReported = records.map(([, , , row, outcome, first, , , , status]) =>
        outcome === "duplicate"
          ? Number(first) < Number(row)
          : outcome === (status === "" ? "skipped" : "verified"),
      );
      expect(areReported).not.toContain(false);
    }),
    { numRuns: 150 },
  );
});
