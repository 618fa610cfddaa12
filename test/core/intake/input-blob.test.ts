import { toByteText } from "@mailproof/core/intake/byte-text";
import {
  type EncodedRow,
  type InputRow,
  readChunk,
  readInput,
  toSlices,
  writeInput,
} from "@mailproof/core/intake/input-blob";
import type { Blobs } from "@mailproof/core/ports/blobs";
import { describe, expect, test } from "vitest";
import { createMemoryBlobs } from "../../simulation/memory-blobs.ts";
import { KEY, listInputRows } from "./ingest-content.ts";

async function* inGroups(
  rows: readonly InputRow[],
  size = 3,
): AsyncGenerator<readonly EncodedRow[]> {
  for (let from = 0; from < rows.length; from += size)
    yield rows
      .slice(from, from + size)
      .map(([row, email, ...cells]) => [row, toByteText(email), ...cells.map(toByteText)]);
}

const createRows = (count: number): readonly InputRow[] =>
  Array.from({ length: count }, (_, index) => [
    index + 2,
    `müller${index}@bücher.example`,
    'Ann, "the\nboss"',
    "",
    `大阪 ${index}`,
  ]);

const given = async (rows: readonly InputRow[], rowsPerChunk: number) => {
  const blobs = createMemoryBlobs();
  return { blobs, ...(await writeInput(blobs, KEY, inGroups(rows), rowsPerChunk)) };
};

describe("the chunks of an input", () => {
  test("the reader reads chunks one by one from one stream, however the stream is cut", async () => {
    const { blobs, input, ...layout } = await given(createRows(25), 10);
    const found = await blobs.get(KEY);
    const bytes = Buffer.concat(await Array.fromAsync(found?.content ?? []));
    for (const length of [1, 7, 100, bytes.length]) {
      const content = (async function* () {
        for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
      })();
      const get: Blobs["get"] = async () => ({ ...input, content });
      const all = await readInput({ get }, input, layout);

      expect(await Array.fromAsync(all ?? [])).toEqual([
        createRows(25).slice(0, 10),
        createRows(25).slice(10, 20),
        createRows(25).slice(20),
      ]);
    }
  });
});

describe("a reader of an input", () => {
  test("the reader returns exactly the written version, or nothing", async () => {
    const { blobs, input, ...layout } = await given(createRows(3), 500);
    const [slice] = toSlices(layout);
    if (!slice) throw new Error("no chunk");
    expect(await readChunk(blobs, input, slice)).toHaveLength(3);

    await writeInput(blobs, KEY, inGroups(createRows(9)), 500);
    expect(await readChunk(blobs, input, slice)).toBeUndefined();
    expect(await readInput(blobs, input, layout)).toBeUndefined();
  });

  test("the reader throws an error when a stream breaks off", async () => {
    const { blobs, input, ...layout } = await given(createRows(9), 3);
    const shortened: Pick<Blobs, "get"> = {
      get: (key, options) =>
        blobs.get(key, { ...options, range: { from: 0, to: input.bytes - 2 } }),
    };

    await expect(listInputRows(shortened, { input, ...layout })).rejects.toThrow("too early");
    await expect(
      readChunk(shortened, input, { from: 0, to: input.bytes, checksum: 0 }),
    ).rejects.toThrow("too early");
  });
});

test("the writer takes memory for a long row of only its length, and writes other rows in small blocks", async () => {
  const lengths: number[] = [];
  const blobs = createMemoryBlobs();
  const put: Blobs["put"] = (key, content) =>
    blobs.put(
      key,
      (async function* () {
        for await (const block of content) {
          lengths.push(block.length);
          yield block;
        }
      })(),
    );
  const long: InputRow = [1, "a@example.com", '"\u0001中'.repeat(50_000)];
  const written = await writeInput(
    { put },
    KEY,
    inGroups([long, ...createRows(2_000), long, ...createRows(2_000)]),
    500,
  );

  const own = Buffer.byteLength(`${JSON.stringify(long)}\n`);
  const [first, second, ...others] = lengths.toSorted((a, b) => b - a);
  expect([first, second]).toEqual([own, own]);
  expect(Math.max(...others)).toBeLessThanOrEqual(65_536);
  expect(Math.min(...others)).toBeGreaterThan(0);
  expect(await listInputRows(blobs, written)).toHaveLength(4_002);
});

test.each([
  ["in a cell", [1, "ann@x.com", "Zürich"], false],
  ["in an address", [1, "ann@bücher.example"], false],
  ["nowhere, though JSON escapes some", [1, "ann@x.com", 'a "quote"\n\u0001'], true],
] as const)(
  "an input records whether it contains letters beyond ASCII: %s",
  async (_case, row, isAscii) => {
    const rows = inGroups([[0, "bob@x.com"], row]);

    expect(await writeInput(createMemoryBlobs(), KEY, rows, 500)).toMatchObject({ isAscii });
  },
);
