import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { Table } from "@mailproof/core/ports/table";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";

/** `take("key_1", 2)`: a request with this key, which may send two a minute. */
const setupLimit = () => {
  const { world, table, later } = givenWorld();
  let calls = 0;
  const counted: Table = {
    ...table,
    get: (key) => (calls++, table.get(key)),
    write: (write) => (calls++, table.write(write)),
  };
  const createTake = () => {
    const limit = createRateLimit(counted, world.now);
    return (keyId: string, key: number, account = 1_000, owner = "acc_1") =>
      limit({ owner, keyId }, { key, account });
  };
  return { take: createTake(), another: createTake(), later, calls: () => calls };
};

test("all keys of an account share one limit, and the headers show the limit that a client meets first", async () => {
  const { take } = setupLimit();

  const answers = [];
  for (const key of ["key_1", "key_2", "key_3", "key_4"]) answers.push(await take(key, 2, 3));

  expect(answers).toMatchObject([
    { allowed: true, by: "key", limit: 2, remaining: 1 },
    { allowed: true, by: "key", limit: 2, remaining: 1 },
    { allowed: true, by: "account", limit: 3, remaining: 0 },
    { allowed: false, by: "account", limit: 3, remaining: 0 },
  ]);
});

test("a key that reached its limit uses nothing of the account's limit", async () => {
  const { take } = setupLimit();
  for (let sent = 0; sent < 10; sent++) await take("key_1", 1, 3);

  expect(await take("key_2", 1, 3)).toMatchObject({ allowed: true });
  expect(await take("key_3", 1, 3)).toMatchObject({ allowed: true });
});

test("an account's test keys and another account's keys count in separate windows", async () => {
  const { take } = setupLimit();
  await take("key_1", 1, 1);
  await take("key_1", 1, 1);

  expect(await take("key_2", 1, 1, "acc_1~test")).toMatchObject({ allowed: true });
  expect(await take("key_3", 1, 1, "acc_2")).toMatchObject({ allowed: true });
});

test.each([
  ["a key", 1, 1_000],
  ["an account", 1_000, 1],
])("a burst of refused requests at %s costs one read in total", async (_, key, account) => {
  const { take, calls } = setupLimit();
  await take("key_1", key, account);
  await take("key_1", key, account);
  const before = calls();

  for (let sent = 0; sent < 1_000; sent++) await take("key_1", key, account);

  expect(calls()).toBe(before);
});

test("processes with one table count requests together", async () => {
  const { take, another } = setupLimit();
  await take("key_1", 2, 3);
  await another("key_1", 2, 3);
  await another("key_2", 2, 3);

  expect(await take("key_1", 2, 3)).toMatchObject({ allowed: false });
  expect(await take("key_2", 2, 3)).toMatchObject({ allowed: false, by: "account" });
});

test("the rate limit lets a request pass when the table's reply is lost", async () => {
  const { world, table } = givenWorld();
  const unsure: Table = { ...table, write: async () => ({ outcome: "ambiguous" }) };
  const subject = { owner: "acc_1", keyId: "key_1" };

  const limit = createRateLimit(unsure, world.now);

  expect(await limit(subject, { key: 5, account: 5 })).toMatchObject({ allowed: true });
});
