import { expect, test } from "vitest";
import { bytesOf, type ListCounts, listOf, mixedDomain } from "../../bench/list-generator.ts";
import { rowsTaken } from "../core/jobs/taking.ts";

const shape = (seed: number) => ({
  seed,
  rows: 5_000,
  duplicatePercent: 10,
  invalidPercent: 5,
  domain: mixedDomain,
});

test.each([1, 2, 3])("a list made from seed %i holds what is told of it", async (seed) => {
  let told: ListCounts | undefined;
  const came = await rowsTaken(
    bytesOf(listOf(shape(seed)), (counts) => {
      told = counts;
    }),
  );

  expect(told).toEqual({
    rows: came.totalSubmitted,
    duplicates: came.duplicatesRemoved,
    invalid: came.invalidSkipped,
    unique: came.unique,
  });
  expect(came).toMatchObject({ totalSubmitted: 5_000, facts: { emailColumn: 3, delimiter: "," } });
  expect(came.duplicatesRemoved).toBeGreaterThan(400);
  expect(came.invalidSkipped).toBeGreaterThan(150);
});

test("a list is the same for the same seed, and another for another", () => {
  const textOf = (seed: number) => [...listOf(shape(seed))].join("");

  expect(textOf(1)).toBe(textOf(1));
  expect(textOf(1)).not.toBe(textOf(2));
});
