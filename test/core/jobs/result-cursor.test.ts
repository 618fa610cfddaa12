import { decodeReadProgress, encodeReadProgress } from "@mailproof/core/jobs/result-cursor";
import { NOTHING_READ } from "@mailproof/core/jobs/result-pages";
import { signCursor } from "@mailproof/core/lib/cursor";
import { expect, test } from "vitest";
import { createRandom } from "../../simulation/random.ts";

const CHUNKS_MAX = 1_000;

const getLength = (passes: readonly number[]): number => {
  const partial = { chunk: 999, passes: 9, row: 500_001 };
  const cursor = signCursor(
    "secret",
    "results",
    encodeReadProgress({ before: 0, passes, partial }),
  );
  return cursor.length;
};

test.each([
  ["nothing", NOTHING_READ],
  ["whole chunks only", { before: 12, passes: [] }],
  ["some passes of some chunks", { before: 3, passes: [1, 0, 2, 0, 0, 45, 100] }],
  ["a part of a chunk", { before: 0, passes: [1], partial: { chunk: 7, passes: 2, row: 3_502 } }],
])("a cursor decodes to the progress that was encoded: %s", (_case, delivered) => {
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
