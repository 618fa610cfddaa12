import { readGauges } from "@mailproof/core/background/gauges";
import { createClockWatch } from "@mailproof/local/server/clock-watch";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";

const HOUR_MS = 3_600_000;

test.each([
  ["set back by two hours", -2 * HOUR_MS, -7200],
  ["set forwards by twelve days", 12 * 24 * HOUR_MS, 12 * 86_400],
  ["adjusted by a second", 1_000, 0],
])("the gauges show the jump of a clock that is %s for an hour", async (_, by, seconds) => {
  const { world, jump, later, logged } = await given();
  let steadyMs = 0;
  const watch = createClockWatch(() => steadyMs);
  await watch.run(world);

  steadyMs += 1_000;
  later(1_000);
  jump(by);
  await watch.run(world);
  const isWithin = await readGauges(world);
  later(HOUR_MS);
  const after = await readGauges(world);

  expect(isWithin.clockJumpSeconds).toBe(seconds);
  expect(logged.filter(({ event }) => event === "clock_jumped")).toHaveLength(
    seconds === 0 ? 0 : 1,
  );
  expect(after.clockJumpSeconds).toBe(0);
});

test("the gauges show a jump when the clock is behind an earlier process's latest time", async () => {
  const { world, jump } = await given();
  await createClockWatch(() => 0).run(world);

  jump(-30 * 24 * HOUR_MS);
  await createClockWatch(() => 0).run(world);

  expect((await readGauges(world)).clockJumpSeconds).toBe(-30 * 86_400);
});

test("the gauges show no jump after the service was stopped for a week", async () => {
  const { world, later } = await given();
  await createClockWatch(() => 0).run(world);

  later(7 * 24 * HOUR_MS);
  await createClockWatch(() => 0).run(world);

  expect((await readGauges(world)).clockJumpSeconds).toBe(0);
});
