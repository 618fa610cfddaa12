import { clawBackCredits, grantCredits, openAccount } from "@mailproof/core/accounts/accounts";
import { ZERO_TOTALS } from "@mailproof/core/money/balance";
import { credits, type Halves } from "@mailproof/core/money/credits";
import { findCrossing, getLowThreshold } from "@mailproof/core/money/thresholds";
import { listUsage } from "@mailproof/core/money/usage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { withLostReplies, withTable } from "../../app/faulty-worlds.ts";
import { given } from "../../app/given.ts";
import { listMoves, listOutboxEvents, readCredits, thenConsistent } from "../../app/ledger.ts";
import { whenVerified } from "../../app/send.ts";

const halves = (amount: number) => amount as Halves;
const getBalance = (available: number, lowThreshold: number) => ({
  ...ZERO_TOTALS,
  available: halves(available),
  lowThreshold: halves(lowThreshold),
});

/** Credits are depleted when less than the 2 halves are left that one verification costs. */
test.each<[number, number, number, string[]]>([
  // available, low threshold, debited, the events
  [100, 10, 2, []],
  [11, 10, 2, ["credits.low"]],
  [9, 10, 2, []],
  [3, 10, 2, ["credits.depleted"]],
  [1, 10, 1, []],
  [100, 10, 100, ["credits.low", "credits.depleted"]],
  [10, 0, 9, ["credits.depleted"]],
  [10, 1, 10, ["credits.low", "credits.depleted"]],
])(
  "a balance of %d with a threshold at %d and a debit of %d crosses %j",
  (available, lowThreshold, debited, events) => {
    const { crossed } = findCrossing(getBalance(available, lowThreshold), halves(debited));

    expect(crossed.map(({ event }) => event)).toEqual(events);
  },
);

test("a debit computed for one balance changes another only if both debits cross equal thresholds", () => {
  const amount = fc.integer({ min: 0, max: 60 });
  fc.assert(
    fc.property(amount, amount, amount, amount, (seen, found, lowThreshold, debited) => {
      fc.pre(debited > 0 && debited <= seen);
      const { crossed, bounds: leaving } = findCrossing(
        getBalance(seen, lowThreshold),
        halves(debited),
      );
      const { atLeast = 0, atMost = Number.POSITIVE_INFINITY } = leaving ?? {};
      const left = found - debited;
      if (left < atLeast || left > atMost) return;

      expect(left).toBeGreaterThanOrEqual(0);
      expect(findCrossing(getBalance(found, lowThreshold), halves(debited)).crossed).toEqual(
        crossed,
      );
    }),
    { numRuns: 5_000 },
  );
});

test("a debit always succeeds on an unchanged balance", () => {
  const amount = fc.integer({ min: 1, max: 60 });
  fc.assert(
    fc.property(amount, amount, amount, (seen, lowThreshold, debited) => {
      fc.pre(debited <= seen);
      const { bounds: leaving } = findCrossing(getBalance(seen, lowThreshold), halves(debited));

      expect(seen - debited).toBeGreaterThanOrEqual(leaving?.atLeast ?? 0);
      expect(seen - debited).toBeLessThanOrEqual(leaving?.atMost ?? seen);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  [20_000, 2_000],
  [19, 1],
  [9, 0],
  [0, 0],
])("the threshold after a grant of %d halves is %d", (granted, threshold) => {
  expect(getLowThreshold(halves(granted))).toBe(threshold);
});

const whenSpent = (ctx: Awaited<ReturnType<typeof given>>, from: number, to: number) =>
  Promise.all(
    Array.from({ length: to - from }, (_row, n) =>
      whenVerified(ctx.world, ctx.liveKey, { email: `ann${from + n}@x.com` }),
    ),
  );

test("the threshold events belong to the account, and contain the remaining credits and the threshold", async () => {
  const ctx = await given({ balance: 20 });
  await whenSpent(ctx, 0, 20);

  const eventItems = ctx.table.items().filter(({ sk }) => sk === "EVENT");

  const { account } = ctx;
  expect(eventItems.map(({ owner, type, data }) => ({ owner, type, data }))).toEqual([
    {
      owner: account,
      type: "credits.low",
      data: { account_id: account, available: 1, threshold: 2 },
    },
    {
      owner: account,
      type: "credits.depleted",
      data: { account_id: account, available: 0, threshold: 1 },
    },
  ]);
});

// An operator who gets no response repeats the grant under its Idempotency-Key.

const FIVE = credits(5);

const whenLost = (ctx: Awaited<ReturnType<typeof given>>) =>
  withLostReplies(ctx, ctx.world, 1, true);

test.each([
  ["a grant", grantCredits, [25, 30]],
  ["a clawback", clawBackCredits, [15, 10]],
] as const)(
  "%s with one key moves credits once, however often the operator repeats the request",
  async (_, change, [after, twice]) => {
    const ctx = await given({ balance: 20 });
    const repeat = (key: string) => change(ctx.world, ctx.account, FIVE, key);

    const first = await repeat("key-1");
    const others = await Promise.all([repeat("key-1"), repeat("key-1")]);

    expect([first, ...others].map(({ available }) => available)).toEqual(
      [after, after, after].map(credits),
    );
    expect((await repeat("key-2")).available).toBe(credits(twice));
    await thenConsistent(ctx);
  },
);

test.each([
  ["a grant", grantCredits, 25],
  ["a clawback", clawBackCredits, 15],
])(
  "%s with a lost reply asks for a repeat with the same key, and the repeat moves nothing more",
  async (_, change, after) => {
    const ctx = await given({ balance: 20 });

    await expect(change(whenLost(ctx), ctx.account, FIVE, "key-1")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      money: "retry_same_key",
    });
    expect(await readCredits(ctx)).toMatchObject({ available: after });
    await change(ctx.world, ctx.account, FIVE, "key-1");

    expect(await readCredits(ctx)).toMatchObject({ available: after, granted: after });
    await thenConsistent(ctx);
  },
);

test("a grant without a key reports an unknown outcome after a lost reply", async () => {
  const ctx = await given({ balance: 20 });

  await expect(grantCredits(whenLost(ctx), ctx.account, FIVE)).rejects.toMatchObject({
    money: "unknown",
  });
});

test("a clawback of all unspent credits happens once, and its repeat succeeds too", async () => {
  const ctx = await given({ balance: 20 });
  const takeAll = () => clawBackCredits(ctx.world, ctx.account, credits(20), "key-1");

  await takeAll();

  expect((await takeAll()).available).toBe(0);
});

test("the service refuses a repeated key with another amount, direction or account, and moves no credits", async () => {
  const ctx = await given({ balance: 20 });
  const { world, account } = ctx;
  const other = await openAccount(world, { name: "Bo", plan: "free", opening: 0 as Halves });
  await grantCredits(world, account, FIVE, "key-1");

  for (const change of [
    () => grantCredits(world, account, credits(6), "key-1"),
    () => clawBackCredits(world, account, FIVE, "key-1"),
    () => grantCredits(world, other.account, FIVE, "key-1"),
  ])
    await expect(change()).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_CONFLICT",
      money: "nothing_charged",
    });

  expect(await readCredits(ctx)).toMatchObject({ available: 25 });
  expect(await readCredits({ ...ctx, account: other.account })).toMatchObject({ available: 0 });
});

test("a clawback takes unspent credits with an entry in the ledger, and keeps every invariant", async () => {
  const ctx = await given({ balance: 20 });
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@example.com" });

  const { available } = await clawBackCredits(ctx.world, ctx.account, credits(4.5));

  expect(available).toBe(credits(14.5));
  expect(await readCredits(ctx)).toMatchObject({ available: 14.5, granted: 15.5, spent: 1 });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1", "clawback 4.5"]);
  await thenConsistent(ctx);
});

test("a clawback takes at most all unspent credits, and changes nothing when refused", async () => {
  const ctx = await given({ balance: 3 });

  await expect(clawBackCredits(ctx.world, ctx.account, credits(3.5))).rejects.toMatchObject({
    code: "INSUFFICIENT_CREDITS",
    money: "nothing_charged",
    message: expect.stringContaining("3 unspent credits; 3.5 cannot be taken back"),
  });
  expect(await readCredits(ctx)).toMatchObject({ available: 3, granted: 3 });

  await clawBackCredits(ctx.world, ctx.account, credits(3));
  expect(await readCredits(ctx)).toMatchObject({ available: 0, granted: 0 });
  await thenConsistent(ctx);
});

test("a clawback never takes credits that a concurrent request spends, and reads a changed balance again", async () => {
  const ctx = await given({ balance: 10 });
  const { world, account, liveKey, table } = ctx;
  let paid = false;
  const racing = withTable(ctx, {
    transact: async (writes) => {
      if (!paid) {
        paid = true;
        await whenVerified(world, liveKey, { email: "ann@example.com" });
      }
      return table.transact(writes);
    },
  });

  await expect(clawBackCredits(racing, account, credits(10))).rejects.toMatchObject({
    money: "nothing_charged",
  });

  expect(await readCredits(ctx)).toMatchObject({ available: 9, granted: 10, spent: 1 });
  await thenConsistent(ctx);
});

test("a clawback that takes a balance below its threshold emits an event", async () => {
  const ctx = await given({ balance: 10 });

  await clawBackCredits(ctx.world, ctx.account, credits(9.5));

  expect(listOutboxEvents(ctx)).toEqual(["credits.low", "credits.depleted"]);
});

test("the day's usage subtracts a clawback from the granted credits", async () => {
  const { world, account, later } = await given({ balance: 10 });
  later(86_400_000);

  await clawBackCredits(world, account, credits(4));

  const range = { from: "2026-11-21", to: "2026-11-22" };
  expect([...(await listUsage(world.table, account, range))]).toMatchObject([
    ["2026-11-21", { granted: credits(10) }],
    ["2026-11-22", { granted: credits(-4), debited: 0 }],
  ]);
});
