import { randomBytes } from "node:crypto";
import { KEYS_MAX } from "@mailproof/core/accounts/api-key-items";
import {
  createKey,
  findKeyById,
  listKeys,
  readLastUses,
  revokeKey,
  rotateKey,
} from "@mailproof/core/accounts/api-keys";
import { generateKey, isWellFormedKey } from "@mailproof/core/accounts/key-format";
import { mayUseFrom } from "@mailproof/core/accounts/key-networks";
import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { Table } from "@mailproof/core/ports/table";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rejectDown, withTable } from "../../app/faulty-worlds.ts";
import { given, givenWorld } from "../../app/given.ts";
import { send } from "../../app/send.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const givenKeys = async () => {
  const ctx = await given({ balance: 5, plan: "scale" });
  const { account } = ctx;
  const create = (more: { expiresAt?: string; networks?: string[] } = {}) =>
    createKey(ctx.world, { account, name: "K", mode: "live", scopes: null, ...more });
  const statusOf = async (key: string) =>
    (await send(ctx.world, "GET /v1/account", { key })).statusCode;
  return { ...ctx, create, statusOf };
};

type TestContext = Awaited<ReturnType<typeof givenKeys>>;
type Given = Pick<TestContext, "world" | "table" | "account">;

const findOnly = async ({ table, account }: Pick<Given, "table" | "account">, id: string) => {
  const key = await findKeyById(table, account, id);
  if (!key) throw new Error(`there is no ${id}`);
  return key;
};

test("the service refuses a key from the second at which it expires, and still lists the key", async () => {
  const ctx = await givenKeys();
  const expiresAt = "2026-11-21T01:00:00.000Z";
  const { secret, key } = await ctx.create({ expiresAt });

  ctx.later(HOUR_MS - 1);
  const before = await ctx.statusOf(secret);
  ctx.later(1);
  const after = await ctx.statusOf(secret);

  expect([before, after]).toEqual([200, 401]);
  expect(await findOnly(ctx, key.id)).toMatchObject({ expiresAt });
});

test("a new key replaces an expired key, and no other key, when the account reached its limit of keys", async () => {
  const ctx = await givenKeys();
  await ctx.create({ expiresAt: "2026-11-21T01:00:00.000Z" });
  for (let keys = 2; keys < KEYS_MAX; keys++) await ctx.create();
  await expect(ctx.create()).rejects.toMatchObject({ code: "LIMIT_REACHED" });
  ctx.later(HOUR_MS);

  await ctx.create();

  await expect(ctx.create()).rejects.toMatchObject({ code: "LIMIT_REACHED" });
  const keys = await listKeys(ctx.table, ctx.account);
  expect(keys.filter(({ mode }) => mode === "live")).toHaveLength(KEYS_MAX);
  expect(await ctx.statusOf(ctx.liveKey)).toBe(200);
});

test("a rotated key gives its rights to its successor, and ends after the overlap", async () => {
  const ctx = await givenKeys();
  const { account } = ctx;
  const old = await createKey(ctx.world, {
    account,
    name: "CI",
    mode: "live",
    scopes: ["account:read"],
  });

  const { minted, oldExpiresAt } = await rotateKey(ctx.world, old.key, DAY_MS);

  expect(minted.key).toMatchObject({ name: "CI", mode: "live", scopes: ["account:read"] });
  expect(oldExpiresAt).toBe("2026-11-22T00:00:00.000Z");
  ctx.later(DAY_MS - 1);
  expect([await ctx.statusOf(old.secret), await ctx.statusOf(minted.secret)]).toEqual([200, 200]);
  ctx.later(1);
  expect([await ctx.statusOf(old.secret), await ctx.statusOf(minted.secret)]).toEqual([401, 200]);
});

test("a rotation without an overlap revokes the old key in the write that creates the new key", async () => {
  const ctx = await givenKeys();
  const old = await ctx.create({ networks: ["192.0.2.0/24"] });

  const { minted, oldExpiresAt } = await rotateKey(ctx.world, old.key, 0);

  expect(oldExpiresAt).toBeUndefined();
  expect(minted.key).toMatchObject({ networks: ["192.0.2.0/24"] });
  expect(await ctx.statusOf(old.secret)).toBe(401);
  expect(await findKeyById(ctx.table, ctx.account, old.key.id)).toBeUndefined();
});

test("rotations without an overlap never reach the limit of keys", async () => {
  const ctx = await givenKeys();
  let { key } = await ctx.create();
  for (let keys = 2; keys < KEYS_MAX; keys++) await ctx.create();

  for (let times = 0; times < 5; times++) ({ key } = (await rotateKey(ctx.world, key, 0)).minted);

  await expect(ctx.create()).rejects.toMatchObject({ code: "LIMIT_REACHED" });
  await revokeKey(ctx.table, key);
  await expect(ctx.create()).resolves.toBeDefined();
});

test("a rotation gives the successor the key's own lifetime, and an overlap never extends the old key", async () => {
  const ctx = await givenKeys();
  const { key } = await ctx.create({ expiresAt: "2026-11-22T00:00:00.000Z" });
  ctx.later(DAY_MS - HOUR_MS);

  const { minted, oldExpiresAt } = await rotateKey(ctx.world, key, 7 * DAY_MS);

  expect(oldExpiresAt).toBe("2026-11-22T00:00:00.000Z");
  expect(minted.key.expiresAt).toBe("2026-11-22T23:00:00.000Z");
});

test("a rotation creates no successor for a key that another request revoked meanwhile", async () => {
  const ctx = await givenKeys();
  const { key } = await ctx.create();
  await revokeKey(ctx.table, key);

  for (const overlap of [0, DAY_MS])
    await expect(rotateKey(ctx.world, key, overlap)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await listKeys(ctx.table, ctx.account)).toHaveLength(2);
});

test("the service stores the last use of a key once an hour, however often a client uses the key", async () => {
  const ctx = await givenKeys();
  const { secret, key } = await ctx.create();
  let stored = 0;
  const world = withTable(ctx, {
    write: (write) => {
      if ("update" in write && write.update.sk === "KEY") stored++;
      return ctx.table.write(write);
    },
  });
  const use = async (times: number) => {
    for (let at = 0; at < times; at++) await send(world, "GET /v1/account", { key: secret });
  };
  const readLastUse = async () => (await readLastUses(ctx.table, [key]))[0];

  const unused = await readLastUse();
  await use(20);
  const first = await readLastUse();
  ctx.later(HOUR_MS - 1);
  await use(20);
  const same = await readLastUse();
  ctx.later(1);
  await use(20);

  expect(unused).toBeUndefined();
  expect([first, same]).toEqual(["2026-11-21T00:00:00.000Z", "2026-11-21T00:00:00.000Z"]);
  expect(await readLastUse()).toBe("2026-11-21T01:00:00.000Z");
  expect(stored).toBe(2);
});

test("a request succeeds when the table refuses to store the key's last use, and a revoked key stays revoked", async () => {
  const ctx = await givenKeys();
  const { secret, key } = await ctx.create();
  const world = withTable(ctx, {
    write: (write) =>
      "update" in write && write.update.sk === "KEY" ? rejectDown() : ctx.table.write(write),
  });
  const late = withTable(ctx, {
    write: async (write) => {
      if ("update" in write && write.update.sk === "KEY") await revokeKey(ctx.table, key);
      return ctx.table.write(write);
    },
  });

  expect((await send(world, "GET /v1/account", { key: secret })).statusCode).toBe(200);
  expect((await send(late, "GET /v1/account", { key: secret })).statusCode).toBe(200);
  expect(await ctx.statusOf(secret)).toBe(401);
});

test.each([
  ["192.0.2.0/24", "192.0.2.77", true],
  ["192.0.2.0/24", "192.0.3.1", false],
  ["192.0.2.1", "192.0.2.1", true],
  ["192.0.2.0/24", "::ffff:192.0.2.77", true],
  ["2001:db8::/32", "2001:db8:1::5", true],
  ["2001:db8::/32", "2001:db9::5", false],
  ["::/0", "192.0.2.1", false],
  ["0.0.0.0/0", "198.51.100.1", true],
  ["192.0.2.0/24", undefined, false],
  ["192.0.2.0/24", "unknown", false],
])("a key restricted to %s accepts a request from %s: %s", (network, clientIp, expected) => {
  expect(mayUseFrom({ networks: [network] }, clientIp)).toBe(expected);
});

test("keys of the smallest and the largest random values are equally long", () => {
  const [least, most] = [0, 255].map((byte) =>
    generateKey("live", (count) => new Uint8Array(count).fill(byte)),
  );

  expect(least).toHaveLength(36);
  expect(most).toHaveLength(36);
  expect(isWellFormedKey(least ?? "") && isWellFormedKey(most ?? "")).toBe(true);
});

test("the checksum detects one wrong, missing, added or swapped letter", () => {
  const key = generateKey("live", randomBytes);
  fc.assert(
    fc.property(
      fc.nat(key.length - 2),
      fc.constantFrom("0", "9", "A", "Z", "a", "z"),
      (at, letter) => {
        const [before, here, next, after] = [
          key.slice(0, at),
          key[at],
          key[at + 1],
          key.slice(at + 2),
        ];
        const mistakes = [
          before + letter + next + after,
          before + next + after,
          before + letter + here + next + after,
          before + next + here + after,
        ].filter((mistake) => mistake !== key);
        for (const mistake of mistakes) expect(isWellFormedKey(mistake)).toBe(false);
      },
    ),
  );
});

test("the parser refuses the form of a live key that begins with the prefix of a test key", () => {
  expect(isWellFormedKey(generateKey("live", randomBytes).replace("live", "test"))).toBe(false);
});

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
