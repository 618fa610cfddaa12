import type { Item, Table, Write } from "@mailproof/core/ports/table";
import { createDynamoTable } from "@mailproof/functions/aws/dynamo-table";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createEmulatedAws, DYNAMODB } from "../aws/emulators.ts";
import { createTable } from "../aws/resources.ts";
import { describeWith } from "../runner/describe-when.ts";
import { memoryTable } from "../simulation/memory-table.ts";

// Every use case is proven in memory. That is worth something only while memory and SQLite answer alike, so random
// histories of writes and reads are done to both, and every answer is compared.

const key = fc.record({
  pk: fc.constantFrom("P", "Q"),
  sk: fc.constantFrom("a", "b", "é", "\u{1F600}"),
});
const scalar = fc.oneof(
  fc.integer({ min: -2, max: 2 }),
  fc.constantFrom("", "x", "y"),
  fc.boolean(),
);
const fields = fc.dictionary(fc.constantFrom("n", "m", "s"), scalar, { maxKeys: 3 });
const extras = fc.record(
  {
    expires_at: fc.integer({ min: 0, max: 20 }),
    list_pk: fc.constantFrom("L", "M"),
    list_sk: fc.constantFrom("1", "2"),
  },
  { requiredKeys: [] },
);
const item = fc.tuple(key, fields, extras).map(([k, f, e]): Item => ({ ...k, ...f, ...e }));
const condition = fc.oneof(
  scalar,
  fc.record({ oneOf: fc.array(scalar, { maxLength: 2 }) }),
  fc.record({ below: fc.constantFrom(0, 1, "x") }),
  fc.record({ atLeast: fc.constantFrom(0, 1, "x") }),
  fc.constant({ missing: true as const }),
);
const where = fc.dictionary(fc.constantFrom("n", "m", "s"), condition, { maxKeys: 2 });
const amount = fc.integer({ min: -2, max: 2 });
const bound = fc.record({ atLeast: amount, atMost: amount }, { requiredKeys: [] });

const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ create: item }),
  fc.record({ put: item }),
  fc.record(
    {
      update: key,
      set: fc.dictionary(fc.constantFrom("t", "u"), fc.option(scalar, { nil: undefined })),
      add: fc.record({ n: amount }),
      bounds: fc.record({ n: bound }),
      where,
      orCreate: fc.constant(true as const),
    },
    { requiredKeys: ["update", "add"] },
  ),
  fc.record({ remove: key, where }, { requiredKeys: ["remove"] }),
  fc.record({ check: key, where }),
  fc.record({ checkAbsent: key }),
);

type Step = (table: Table) => Promise<unknown>;
const step: fc.Arbitrary<{ later: number; act: Step }> = fc.record({
  later: fc.integer({ min: 0, max: 2 }),
  act: fc.oneof(
    write.map(
      (one): Step =>
        (table) =>
          table.write(one),
    ),
    fc.array(write, { minLength: 1, maxLength: 4 }).map(
      (writes): Step =>
        (table) =>
          table.transact(writes),
    ),
    key.map(
      (one): Step =>
        (table) =>
          table.get(one),
    ),
    fc
      .record({
        pk: fc.constantFrom("P", "Q"),
        newestFirst: fc.boolean(),
        limit: fc.integer({ min: 1, max: 3 }),
      })
      .map(
        (query): Step =>
          (table) =>
            table.query(query),
      ),
    fc
      .record({
        index: fc.constant("list" as const),
        pk: fc.constantFrom("L", "M"),
        newestFirst: fc.boolean(),
        limit: fc.integer({ min: 1, max: 3 }),
      })
      .map(
        (query): Step =>
          (table) =>
            table.query(query),
      ),
  ),
});

const getOutcome = (act: Step, table: Table) =>
  act(table).catch((error: unknown) => {
    if (error instanceof RangeError) return `RangeError: ${error.message}`;
    throw error;
  });

const isNoNumber = (outcome: unknown): boolean =>
  typeof outcome === "string" && outcome.includes("is no number");
const isNotDone = (outcome: unknown): boolean =>
  isNoNumber(outcome) || (outcome as { outcome?: string } | undefined)?.outcome === "refused";

/** DynamoDB returns nothing of what a transaction wrote. */
const withoutItems = (outcome: unknown): unknown => {
  if ((outcome as { outcome?: string } | undefined)?.outcome !== "committed") return outcome;
  const { items: _, ...others } = outcome as { items?: unknown };
  return others;
};

/** Of two reasons against one transaction DynamoDB may tell the other one. */
const runSpec = (outcome: unknown, other: unknown): unknown =>
  [outcome, other].some(isNoNumber) && isNotDone(outcome) ? "not done" : outcome;

test("memory and SQLite return the same answers to any writes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      let seconds = 0;
      const now = () => new Date(seconds * 1000);
      const [memory, sqlite] = [memoryTable(now), createSqliteTable(":memory:", now)];
      for (const { later, act } of steps) {
        seconds += later;
        expect(await getOutcome(act, sqlite)).toEqual(await getOutcome(act, memory));
      }
      sqlite.close();
    }),
    { numRuns: 300 },
  );
});

describeWith(DYNAMODB, "the table on DynamoDB", () => {
  test("memory and DynamoDB return the same answers to any writes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        let seconds = 0;
        const now = () => new Date(seconds * 1000);
        const aws = await createEmulatedAws({ now });
        const [memory, dynamo] = [memoryTable(now), createDynamoTable(aws, await createTable(aws))];
        for (const { later, act } of steps) {
          seconds += later;
          const ours = withoutItems(await getOutcome(act, memory));
          const theirs = await getOutcome(act, dynamo);
          expect(runSpec(theirs, ours)).toEqual(runSpec(ours, theirs));
        }
      }),
      { numRuns: 100 },
    );
  });
});
