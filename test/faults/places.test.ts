import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FAULTS as OF_DEPLOYMENT } from "./deployment.ts";
import { applyEdit } from "./fault.ts";
import { PLANTED_BUGS } from "./money.ts";
import { FAULTS as OF_PRODUCT } from "./product.ts";

// Whether tests notice the faults takes half an hour: npx node test/faults/plant.ts and test/third-party/money/cli.ts --bugs "".

test("each planted fault still has its place in the code", () => {
  const faults = [...OF_DEPLOYMENT, ...OF_PRODUCT];
  const more = faults.flatMap(({ also = [] }) => also);
  const edits = [...faults, ...more, ...Object.values(PLANTED_BUGS).flat()];

  const changed = edits.map((edit) => applyEdit(readFileSync(edit.file, "utf8"), edit));

  expect(changed).toHaveLength(edits.length);
});

test("each planted fault names test files that exist", () => {
  const names = [...OF_DEPLOYMENT, ...OF_PRODUCT].flatMap(({ tests }) => tests);

  expect(names.filter((name) => !existsSync(`test/${name}.test.ts`))).toEqual([]);
});
