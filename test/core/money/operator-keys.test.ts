import { clawBackCredits, grantCredits, openAccount } from "@mailproof/core/accounts/accounts";
import { credits, type Halves } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { withLostReplies } from "../../faulty-worlds.ts";
import { given } from "../../given.ts";
import { readCredits, thenConsistent } from "../../ledger.ts";

// An operator who gets no response repeats the grant under its Idempotency-Key.

const FIVE = credits(5);

const whenLost = (ctx: Awaited<ReturnType<typeof given>>) =>
  withLostReplies(ctx, ctx.world, 1, true);

test.each([
  ["a grant", grantCredits, [25, 30]],
  ["a clawback", clawBackCredits, [15, 10]],
] as const)(
  "%s is made once for each key, however often it is repeated",
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
  "%s that lost its reply says to repeat it with the same key, and the repeat moves nothing more",
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

test("without a key the error states that the outcome is unknown", async () => {
  const ctx = await given({ balance: 20 });

  await expect(grantCredits(whenLost(ctx), ctx.account, FIVE)).rejects.toMatchObject({
    money: "unknown",
  });
});

test("a clawback of all unspent credits happens once, and its repeat is not refused for too few", async () => {
  const ctx = await given({ balance: 20 });
  const takeAll = () => clawBackCredits(ctx.world, ctx.account, credits(20), "key-1");

  await takeAll();

  expect((await takeAll()).available).toBe(0);
});

test("the same key with another amount, direction or account is refused, and moves no credits", async () => {
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
