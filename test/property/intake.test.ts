import { ingestBatch } from "@mailproof/core/intake/ingest";
import { readChunk, toSlices } from "@mailproof/core/intake/input-blob";
import { createTextSet } from "@mailproof/core/intake/text-set";
import { isAddress, parseAddress } from "@mailproof/mail/address";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  ingestContent,
  KEY,
  listExcludedRows,
  listInputRows,
} from "../core/intake/ingest-content.ts";
import { createMemoryBlobs } from "../simulation/memory-blobs.ts";

const cell = fc
  .array(
    fc.oneof(
      fc.stringMatching(/^[a-z0-9]{1,8}$/),
      fc.constantFrom(
        '"',
        ",",
        ";",
        "\n",
        "\r\n",
        "\\",
        "\\n",
        "]",
        "é",
        "東",
        "😀",
        "\u2028",
        "\t",
      ),
    ),
    { maxLength: 6 },
  )
  .map((pieces) => pieces.join(""));

/** Few people and few domains, so that many of them come again; some in another spelling, some no address. */
const email = fc
  .tuple(
    fc.constantFrom("ann", "bob", "Ann", "o'neil", "jörg", '"a b"', '"\\""', "x".repeat(64), ""),
    fc.constantFrom("@example.com", "@EXAMPLE.com", "@bücher.example", "@[192.0.2.1]", "@no", ""),
    fc.constantFrom("", "", " ", "<"),
  )
  .map(([local, domain, around]) =>
    around === "<" ? `<${local}${domain}>` : `${around}${local}${domain}`,
  );

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

type Row = readonly [before: string, email: string, after: string];

/** The outcome that is expected, found in the simplest way. */
const expected = (rows: readonly Row[]) => {
  const seen = new Map<string, number>();
  const counts = {
    totalSubmitted: rows.length,
    duplicatesRemoved: 0,
    invalidSkipped: 0,
    unique: 0,
  };
  const accepted: (readonly (number | string)[])[] = [];
  const excluded: (readonly (number | string)[])[] = [];
  rows.forEach(([before, text, after], index) => {
    const row = index + 2;
    const address = parseAddress(text.trim());
    const first = isAddress(address) ? seen.get(address.canonical) : undefined;
    if (!isAddress(address)) {
      counts.invalidSkipped += 1;
      excluded.push([row, address.fault, before, text, after]);
    } else if (first !== undefined) {
      counts.duplicatesRemoved += 1;
      excluded.push([row, first, before, text, after]);
    } else {
      seen.set(address.canonical, row);
      counts.unique += 1;
      accepted.push([row, address.display, before, text === address.display ? "" : text, after]);
    }
  });
  return { counts, accepted, excluded };
};

/** The last row is an address: a list without one is a fault. */
const list = fc
  .array(fc.tuple(cell, email, cell), { maxLength: 40 })
  .map((rows): readonly Row[] => [...rows, ["", "last@example.com", ""]]);
const RUNS = { numRuns: 500 };

test("a stored file contains the first row of each address cell by cell, and counts all other rows", async () => {
  await fc.assert(
    fc.asyncProperty(list, fc.integer({ min: 1, max: 10 }), async (rows, rowsPerChunk) => {
      const text = [["before", "e-mail", "after"], ...rows].map((cells) =>
        cells.map(quoted).join(","),
      );
      const blobs = createMemoryBlobs();
      const options = { emailColumns: ["e-mail"], addressesMax: 100, rowsPerChunk };
      const { outcome } = await ingestContent(text.join("\n"), options, blobs);
      if ("fault" in outcome) throw new Error(outcome.message);
      const { counts, accepted, excluded } = expected(rows);

      expect(outcome).toMatchObject(counts);
      expect(await listInputRows(blobs, outcome)).toEqual(accepted);
      expect(await listExcludedRows(blobs, outcome)).toEqual(excluded);
      const slices = toSlices(outcome);
      const chunks = await Promise.all(
        slices.map((slice) => readChunk(blobs, outcome.input, slice)),
      );
      expect(chunks.flat()).toEqual(accepted);
      expect(chunks.slice(0, -1).every((chunk) => chunk?.length === rowsPerChunk)).toBe(true);
      expect([outcome.chunks[0], outcome.chunks.at(-1)]).toEqual([0, outcome.input.bytes]);
    }),
    RUNS,
  );
});

test("a stored batch contains each address once, and every text that is no address", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(email, cell)), async (emails) => {
      const blobs = createMemoryBlobs();
      const outcome = await ingestBatch(blobs, emails, { key: KEY, rowsPerChunk: 7 });
      const rows = await listInputRows(blobs, outcome);

      const same = (text: string) => {
        const parsed = parseAddress(text);
        return isAddress(parsed) ? parsed.canonical : `no address: ${text.trim()}`;
      };
      expect(rows.map(([, text]) => same(text))).toEqual([...new Set(emails.map(same))]);
      expect(rows.map(([row]) => same(emails[row - 1] ?? ""))).toEqual(
        rows.map(([, text]) => same(text)),
      );
      expect(outcome.duplicatesRemoved).toBe(emails.length - rows.length);
    }),
    RUNS,
  );
});

test("a text set returns the same first rows as a Map, however many texts it contains", () => {
  const text = fc.oneof(
    fc.stringMatching(/^[ab]{0,4}$/),
    fc.string({ unit: "binary", maxLength: 4 }),
    fc.integer({ min: 250, max: 260 }).map((length) => "x".repeat(length)),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 300 }), fc.nat(400), (texts, countMax) => {
      const [ours, theirs] = [createTextSet(countMax), new Map<string, number>()];
      for (const [index, one] of texts.entries()) {
        expect(ours.add(one, index + 1)).toBe(theirs.get(one) ?? 0);
        if (!theirs.has(one)) theirs.set(one, index + 1);
      }
    }),
    RUNS,
  );
});
