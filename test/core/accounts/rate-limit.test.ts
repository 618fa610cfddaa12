import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { Table } from "@mailproof/core/ports/table";
import { expect, test } from "vitest";
import { givenWorld } from "../../given.ts";

const START_SECONDS = Date.UTC(2026, 10, 21) / 1000;

const setupLimit = () => {
  const { world, table, later } = givenWorld();
  let writes = 0;
  const counted: Table = { ...table, write: (write) => (writes++, table.write(write)) };
  const limit = createRateLimit(counted, world.now);
  return { limit, another: createRateLimit(counted, world.now), later, writes: () => writes };
};

test("a window lets through as many as the plan has, and counts down", async () => {
  const { limit } = setupLimit();

  const answers = [await limit("key_1", 2), await limit("key_1", 2), await limit("key_1", 2)];

  const allowance = { limit: 2, resetAt: START_SECONDS + 60 };
  expect(answers).toEqual([
    { allowed: true, remaining: 1, ...allowance },
    { allowed: true, remaining: 0, ...allowance },
    { allowed: false, remaining: 0, ...allowance },
  ]);
});

test("a refused burst costs one write, not one each", async () => {
  const { limit, writes } = setupLimit();
  await limit("key_1", 1);
  await limit("key_1", 1);
  const before = writes();

  for (let sent = 0; sent < 1_000; sent++) await limit("key_1", 1);

  expect(writes()).toBe(before);
});

test("keys have windows of their own", async () => {
  const { limit } = setupLimit();
  await limit("key_1", 1);
  await limit("key_1", 1);

  expect(await limit("key_2", 1)).toMatchObject({ allowed: true });
});

test("processes count together", async () => {
  const { limit, another } = setupLimit();
  await limit("key_1", 2);
  await another("key_1", 2);

  expect(await limit("key_1", 2)).toMatchObject({ allowed: false });
});

test("the next minute starts anew, also for a key that was full", async () => {
  const { limit, later } = setupLimit();
  await limit("key_1", 1);
  await limit("key_1", 1);

  later(59_999);
  expect(await limit("key_1", 1)).toMatchObject({ allowed: false });
  later(1);
  expect(await limit("key_1", 1)).toMatchObject({ allowed: true, resetAt: START_SECONDS + 120 });
});

test("a lost reply turns nobody away", async () => {
  const { world, table } = givenWorld();
  const unsure: Table = { ...table, write: async () => ({ outcome: "ambiguous" }) };

  expect(await createRateLimit(unsure, world.now)("key_1", 5)).toMatchObject({ allowed: true });
});
