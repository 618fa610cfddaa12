import { expect, test } from "vitest";
import { generateList, type ListCounts, pickDomain, toBytes } from "../../bench/list-generator.ts";
import { ingestRows } from "../core/intake/ingest-content.ts";

const shape = (seed: number) => ({
  seed,
  rows: 5_000,
  duplicatePercent: 10,
  invalidPercent: 5,
  domain: pickDomain,
});

test.each([1, 2, 3])("a list made from seed %i holds what its counts say", async (seed) => {
  let expectedCounts: ListCounts | undefined;
  const result = await ingestRows(
    toBytes(generateList(shape(seed)), (counts) => {
      expectedCounts = counts;
    }),
  );

  expect(expectedCounts).toEqual({
    rows: result.totalSubmitted,
    duplicates: result.duplicatesRemoved,
    invalid: result.invalidSkipped,
    unique: result.unique,
  });
  expect(result).toMatchObject({
    totalSubmitted: 5_000,
    format: { emailColumn: 3, delimiter: "," },
  });
  expect(result.duplicatesRemoved).toBeGreaterThan(400);
  expect(result.invalidSkipped).toBeGreaterThan(150);
});

test("a list is the same for the same seed, and another for another", () => {
  const getText = (seed: number) => [...generateList(shape(seed))].join("");

  expect(getText(1)).toBe(getText(1));
  expect(getText(1)).not.toBe(getText(2));
});
