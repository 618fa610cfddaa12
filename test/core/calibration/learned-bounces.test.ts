import { addToCell, toFateField } from "@mailproof/core/calibration/items";
import { createLearnedBounces } from "@mailproof/core/calibration/learned-bounces";
import { expect, test } from "vitest";
import { withTable } from "../../app/faulty-worlds.ts";
import { asRows } from "../../runner/as-rows.ts";
import { givenSqliteWorld } from "../../things/calibration.ts";

type Reports = Readonly<Record<string, { readonly delivered: number; readonly hard: number }>>;

/** Addresses that were `valid` at a provider, by the account that reported on them. */
const givenReports = async (reports: Reports, { month = "2026-11", status = "valid" } = {}) => {
  const ctx = givenSqliteWorld();
  const cell = { provider: "fastmail", month, status, band: 90 };
  for (const [tag, counts] of Object.entries(reports))
    for (const fate of ["delivered", "hard"] as const)
      await ctx.world.table.write(
        addToCell(
          cell,
          Number(tag) % 4,
          { [fate]: counts[fate], [toFateField(fate, Number(tag))]: counts[fate] },
          ctx.world.now(),
        ),
      );
  return ctx;
};

const LATE = { delivered: 160, hard: 40 };
const ORDINARY = { delivered: 196, hard: 4 };

test.each(asRows<[string, Reports, boolean]>`
  three accounts of which each saw a fifth bounce | ${{ 1: LATE, 2: LATE, 3: LATE }} | true
  one account, however many addresses it reports | ${{ 1: { delivered: 0, hard: 9_000 } }} | false
  two accounts | ${{ 1: LATE, 2: LATE }} | false
  one account against many others | ${{ 1: { delivered: 0, hard: 9_000 }, 2: ORDINARY, 3: ORDINARY, 4: ORDINARY }} | false
  what is lost anyway | ${{ 1: ORDINARY, 2: ORDINARY, 3: ORDINARY }} | false
  a third of too few | ${{ 1: { delivered: 20, hard: 10 }, 2: { delivered: 20, hard: 10 }, 3: { delivered: 20, hard: 10 } }} | false
  a share that chance explains | ${{ 1: { delivered: 88, hard: 12 }, 2: { delivered: 88, hard: 12 }, 3: { delivered: 88, hard: 12 } }} | false
  nothing | ${{}} | false
`)("%s: an acceptance proves nothing there: %#", async (_, reports, expected) => {
  const { world } = await givenReports(reports);

  expect(await createLearnedBounces(world)("fastmail")).toBe(expected);
  expect(await createLearnedBounces(world)("google")).toBe(false);
});

test("other verdicts' bounces, and those of an earlier season, have no part in it", async () => {
  const all = { 1: LATE, 2: LATE, 3: LATE };

  expect(
    await createLearnedBounces((await givenReports(all, { status: "risky" })).world)("fastmail"),
  ).toBe(false);
  expect(
    await createLearnedBounces((await givenReports(all, { month: "2026-09" })).world)("fastmail"),
  ).toBe(false);
  expect(
    await createLearnedBounces((await givenReports(all, { month: "2026-10" })).world)("fastmail"),
  ).toBe(true);
});

test("it is read once an hour, and a table that is down leaves what was found", async () => {
  const ctx = await givenReports({ 1: LATE, 2: LATE, 3: LATE });
  const { table } = ctx.world;
  let reads = 0;
  let isDown = false;
  const world = withTable(
    { world: ctx.world, table },
    {
      query: (query) => {
        reads++;
        return isDown ? Promise.reject(new Error("the table is down")) : table.query(query);
      },
    },
  );
  const hasLearned = createLearnedBounces(world);
  await Promise.all(Array.from({ length: 100 }, () => hasLearned("fastmail")));
  // Two months, four shards.
  expect(reads).toBe(8);

  isDown = true;
  ctx.later(3_600_000);

  expect(await hasLearned("fastmail")).toBe(true);
  expect(reads).toBe(16);
});
