import { clawBackCredits, grantCredits } from "@mailproof/core/accounts/accounts";
import { reconcile } from "@mailproof/core/background/reconciler";
import {
  buildShardUpdate,
  getBalance,
  readBalance,
  TOTALS,
  toBalanceKey,
} from "@mailproof/core/money/balance";
import { credits, type Halves } from "@mailproof/core/money/credits";
import { planFunding } from "@mailproof/core/money/funding";
import { toEntryItem } from "@mailproof/core/money/items";
import { move, openBalance } from "@mailproof/core/money/ledger";
import {
  MOVES,
  type MovedAmounts,
  type MoveKind,
  toBalanceChanges,
} from "@mailproof/core/money/moves";
import { listUsage, NO_USAGE } from "@mailproof/core/money/usage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { whenWorked } from "../../app/drain-queues.ts";
import { type Given, given as givenAny, givenWorld } from "../../app/given.ts";
import { listOutboxEvents, readCredits, thenConsistent } from "../../app/ledger.ts";
import { send, whenVerified } from "../../app/send.ts";
import { createEmails, whenBatched } from "../../things/jobs.ts";

/** A plan with many shards, and few credits in each. */
const given = async ({
  creditsPerShard = 1,
  ...options
}: Given & { creditsPerShard?: number } = {}) => {
  const ctx = await givenAny({ plan: "scale", ...options });
  const settings = { ...ctx.world.settings, creditsPerShard };
  return { ...ctx, world: { ...ctx.world, settings } };
};

const whenAllVerified = (ctx: Awaited<ReturnType<typeof given>>, from: number, to: number) =>
  Promise.all(
    Array.from({ length: to - from }, (_, n) =>
      whenVerified(ctx.world, ctx.liveKey, { email: `ann${from + n}@x.com` }),
    ),
  );

const listShards = async ({ table, account }: Awaited<ReturnType<typeof given>>) =>
  (await readBalance(table, account)).shards;

test("the charges of an account spread over many shards, and the balance is their sum", async () => {
  const ctx = await given({ balance: 100 });

  await whenAllVerified(ctx, 0, 60);

  const shards = await listShards(ctx);
  expect(shards.length).toBeGreaterThan(50);
  expect(shards.filter(({ debited }) => debited > 0).length).toBeGreaterThan(20);
  expect(await readCredits(ctx)).toMatchObject({ available: 40, held: 0, spent: 60, granted: 100 });
  const { data } = await send(ctx.world, "GET /v1/account", { key: ctx.liveKey });
  expect(data.credits).toMatchObject({ available: 40, spent: 60 });
  await thenConsistent(ctx);
});

test("a deployment without shards spends the credits of existing shards", async () => {
  const ctx = await given({ balance: 60 });
  await whenAllVerified(ctx, 0, 30);
  const settings = { ...ctx.world.settings, creditsPerShard: Number.POSITIVE_INFINITY };

  const emails = createEmails(30);
  const { statusCode } = await whenBatched({ ...ctx.world, settings }, ctx.liveKey, { emails });

  expect(statusCode).toBe(202);
  await whenWorked(ctx);
  expect(await readCredits(ctx)).toMatchObject({ available: 0, spent: 60 });
  await thenConsistent(ctx);
});

test("a clawback takes credits from all shards", async () => {
  const ctx = await given({ balance: 50 });
  await whenAllVerified(ctx, 0, 20);

  await clawBackCredits(ctx.world, ctx.account, credits(30));

  expect(await readCredits(ctx)).toMatchObject({ available: 0, granted: 20, spent: 20 });
  await thenConsistent(ctx);
});

test.each([
  ["of a plan for low rates", { plan: "free" as const }],
  ["with few credits", { creditsPerShard: 100 }],
  ["whose transactions never conflict", { creditsPerShard: Number.POSITIVE_INFINITY }],
])("an account %s stores one balance item", async (_case, made) => {
  const ctx = await given({ balance: 50, ...made });

  await whenAllVerified(ctx, 0, 20);

  expect(await listShards(ctx)).toHaveLength(1);
});

test("the usage of a day is the sum of its shards", async () => {
  const ctx = await given({ balance: 100 });
  await whenAllVerified(ctx, 0, 40);

  const usage = await listUsage(ctx.table, ctx.account, { from: "2026-11-21", to: "2026-11-21" });

  expect([...usage]).toEqual([
    [
      "2026-11-21",
      { ...NO_USAGE, granted: credits(100), debited: credits(40), debited_verify: credits(40) },
    ],
  ]);
});

test("a threshold that the sum of the shards crosses emits one event, and another one after a grant", async () => {
  const ctx = await given({ balance: 50 });
  for (let n = 0; n < 50; n++) await whenAllVerified(ctx, n, n + 1);
  expect(listOutboxEvents(ctx)).toEqual(["credits.low", "credits.depleted"]);

  await grantCredits(ctx.world, ctx.account, credits(40));
  for (let n = 50; n < 90; n++) await whenAllVerified(ctx, n, n + 1);

  const events = listOutboxEvents(ctx);
  expect(events.map(String).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    "credits.depleted",
    "credits.depleted",
    "credits.low",
    "credits.low",
  ]);
});

test("a threshold that debits of several shards cross together emits its event within a minute", async () => {
  const ctx = await given({ balance: 50 });
  await whenAllVerified(ctx, 0, 10);
  const { shards } = await readBalance(ctx.table, ctx.account);
  // As if each had read the balance before the others were written.
  for (const { shard, available, granted } of shards)
    await ctx.table.write({
      update: toBalanceKey(ctx.account, shard),
      set: { available: 0, granted: granted - available },
    });

  await reconcile.run(ctx.world);
  await reconcile.run(ctx.world);

  expect(listOutboxEvents(ctx)).toEqual(["credits.low", "credits.depleted"]);
});

/** Draws shards until the charge can be paid. The result names what was wrong, or is undefined. */
const findWrongDraw = (
  has: readonly number[],
  amount: number,
  count: number,
  chance: number,
): string | undefined => {
  let left = has;
  for (let round = 0; round <= has.length; round++) {
    const shards = left.map((available, shard) => ({ shard, available })) as never;
    const plan = planFunding({ shards }, amount as Halves, count, () => chance);
    const takesTooMuch = plan.draws.some(({ from, amount: given }) => given > (left[from] ?? 0));
    if (takesTooMuch) return "a shard gives what it does not have";
    if (plan.draws.some(({ from, amount: given }) => from === plan.shard || given <= 0))
      return "a draw moves nothing";
    const own = (left[plan.shard] ?? 0) + plan.draws.reduce((sum, one) => sum + one.amount, 0);
    if (plan.isEnough) return own < amount ? "the charge is not covered" : undefined;
    left = left.map((one, shard) => {
      const gave = plan.draws.find(({ from }) => from === shard)?.amount ?? 0;
      return shard === plan.shard ? own : one - gave;
    });
  }
  return "the credits were never gathered";
};

test("a charge that all shards together can pay succeeds after transfers between unequal shards", () => {
  const amounts = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 12 });
  const count = fc.integer({ min: 1, max: 20 });
  const chance = fc.double({ min: 0, max: 0.999, noNaN: true });
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(amounts, count, chance, part, (has, shards, random, share) => {
      const total = has.reduce((sum, one) => sum + one, 0);
      const amount = Math.max(1, Math.floor(total * share));
      fc.pre(amount <= total);
      expect(findWrongDraw(has, amount, shards, random)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});

const AT = "2026-11-21T00:00:00.000Z";
const halves = (amount: number) => amount as Halves;

const createEntry = (
  moved: MovedAmounts,
  step: "debit" | "end" = "debit",
  operation = "job_1",
) => ({
  account: "acc_1",
  operation,
  openedAt: AT,
  step,
  at: AT,
  moved,
  reason: "verify" as const,
  countedIn: undefined,
});

/** An account with a grant, of which some is held and some spent. */
const givenBalance = async ({ granted = 10, held = 0, spent = 0 } = {}) => {
  const { table } = givenWorld();
  const account = "acc_1";
  await table.transact(
    openBalance({ id: "txn_0", account, at: AT, amount: halves(granted), reason: "opening" }),
  );
  const moved = { hold: halves(held), charge: halves(spent) };
  await table.transact(move(createEntry(moved, "debit", "job_0")));
  return table;
};

test.each(Object.keys(MOVES) as MoveKind[])("the move %s keeps both invariants", (kind) => {
  const sum: Record<string, number> = Object.fromEntries(TOTALS.map((total) => [total, 0]));
  for (const [total, by] of Object.entries(toBalanceChanges({ [kind]: halves(3) })))
    sum[total]! += by;
  const { available = 0, held = 0, spent = 0, granted = 0, debited = 0, refunded = 0 } = sum;

  expect(available).toBe(granted - debited + refunded);
  expect(held + spent + refunded).toBe(debited);
  expect(Object.values(sum).some((by) => by !== 0)).toBe(true);
});

test("one entry can settle some credits and release the rest", () => {
  expect(toBalanceChanges({ settle: halves(3), release: halves(2) })).toEqual({
    held: -5,
    spent: 3,
    available: 2,
    refunded: 2,
  });
});

test.each<[MovedAmounts, object]>([
  [{ hold: halves(4) }, { available: 3, held: 6, spent: 1, debited: 7, refunded: 0 }],
  [{ charge: halves(4) }, { available: 3, held: 2, spent: 5, debited: 7, refunded: 0 }],
  [{ settle: halves(2) }, { available: 7, held: 0, spent: 3, debited: 3, refunded: 0 }],
  [{ release: halves(2) }, { available: 9, held: 0, spent: 1, debited: 3, refunded: 2 }],
  [{ refund: halves(1) }, { available: 8, held: 2, spent: 0, debited: 3, refunded: 1 }],
])("from 7 available, 2 held and 1 spent, the move %j leaves %j", async (moved, totals) => {
  const table = await givenBalance({ held: 2, spent: 1 });

  await table.transact(move(createEntry(moved)));

  expect(await getBalance(table, "acc_1")).toMatchObject({ granted: 10, ...totals });
});

test.each<MovedAmounts>([
  { hold: halves(8) },
  { charge: halves(8) },
  { settle: halves(3) },
  { release: halves(3) },
  { refund: halves(2) },
  { settle: halves(2), release: halves(1) },
])(
  "the balance of 7 available, 2 held and 1 spent refuses the move %j, and stores no entry",
  async (moved) => {
    const table = await givenBalance({ held: 2, spent: 1 });
    const before = table.items();
    const writes = move(createEntry(moved));

    expect(await table.transact(writes)).toEqual({ outcome: "refused", refusedWrite: writes[1] });
    expect(table.items()).toEqual(before);
  },
);

test("the ledger stores a step of an operation once, also after retries with other amounts", async () => {
  const table = await givenBalance({ held: 2 });
  await table.transact(move(createEntry({ settle: halves(1) }, "end")));
  const again = move(createEntry({ release: halves(1) }, "end"));

  expect(await table.transact(again)).toEqual({ outcome: "refused", refusedWrite: again[0] });
  expect(await getBalance(table, "acc_1")).toMatchObject({ held: 1, spent: 1, refunded: 0 });
});

test("a debit's write carries the least balance that the debit may leave as its condition", async () => {
  const table = await givenBalance({ granted: 10 });
  const changes = toBalanceChanges({ hold: halves(4) });
  const reduce = (atMost: number) =>
    table.transact([buildShardUpdate("acc_1", 0, changes, { atLeast: 6, atMost })]);

  expect([(await reduce(5)).outcome, (await reduce(6)).outcome]).toEqual(["refused", "committed"]);
});

test("an entry belongs to the month in which its operation began, whenever the operation ends", () => {
  const origin = { account: "acc_1", operation: "job_1", openedAt: "2026-11-30T23:59:59.999Z" };
  const end = {
    step: "end" as const,
    at: "2026-12-02T00:00:00.000Z",
    moved: {},
    reason: "verify" as const,
    countedIn: undefined,
  };

  expect(toEntryItem({ ...origin, ...end })).toMatchObject({
    pk: "LEDGER#acc_1#2026-11",
    sk: "2026-11-30T23:59:59.999Z#job_1~end",
  });
});

test.each([0.3, 1e300, Number.NaN, Number.POSITIVE_INFINITY])(
  "the ledger refuses %d as an amount of credits",
  (amount) => {
    expect(() => credits(amount)).toThrow(RangeError);
  },
);
