import { clawBackCredits, grantCredits } from "@mailproof/core/accounts/accounts";
import { audit } from "@mailproof/core/background/audit";
import { credits } from "@mailproof/core/money/credits";
import { listUsage } from "@mailproof/core/money/usage";
import { expect, test } from "vitest";
import { withTable } from "../../app/faulty-worlds.ts";
import { given } from "../../app/given.ts";
import { listMoves, listOutboxEvents, readCredits, thenConsistent } from "../../app/ledger.ts";
import { whenVerified } from "../../app/send.ts";

test("a clawback takes unspent credits, with an entry in the ledger, and every invariant holds", async () => {
  const ctx = await given({ balance: 20 });
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@example.com" });

  const { available } = await clawBackCredits(ctx.world, ctx.account, credits(4.5));

  expect(available).toBe(credits(14.5));
  expect(await readCredits(ctx)).toMatchObject({ available: 14.5, granted: 15.5, spent: 1 });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1", "clawback 4.5"]);
  await thenConsistent(ctx);
});

test("a clawback takes at most all unspent credits, and a refused one changes nothing", async () => {
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

test("a clawback never takes credits that a concurrent request spends, and reads a balance that moved again", async () => {
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

test("an audit during grants and clawbacks finds no violation", async () => {
  const { world, account } = await given({ balance: 10 });
  let isGrant = false;
  const moving = {
    ...world.table,
    query: async (query: Parameters<typeof world.table.query>[0]) => {
      isGrant = !isGrant;
      await (isGrant ? grantCredits : clawBackCredits)(world, account, credits(1));
      return world.table.query(query);
    },
  };

  expect(await audit(moving, world.now())).toMatchObject({ ok: true });
});

test("an account that does not exist is not found", async () => {
  const { world } = await given();

  await expect(clawBackCredits(world, "acc_none", credits(1))).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});
