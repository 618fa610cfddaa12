import { grantCredits } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { listEntries } from "@mailproof/core/money/list-entries";
import { expect, test } from "vitest";
import { given } from "../../given.ts";
import { whenVerified } from "../../send.ts";

const DAY_MS = 86_400_000;

/** Entries of November, none of December, entries of January. */
const givenLedger = async () => {
  const ctx = await given({ balance: 10 });
  ctx.later(1_000);
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  ctx.later(45 * DAY_MS);
  for (const amount of [1, 2, 3]) {
    ctx.later(1_000);
    await grantCredits(ctx.world, ctx.account, credits(amount));
  }
  const since = "2026-11-21T00:00:00.000Z";
  const list = (limit: number, after?: string) =>
    listEntries(ctx.table, ctx.world.now(), { account: ctx.account, since, limit, after });
  return { ...ctx, list };
};

test("the ledger is listed newest first, over months without an entry", async () => {
  const { list } = await givenLedger();

  const { entries, next } = await list(50);

  expect(entries.map(({ moved }) => moved)).toEqual([
    { grant: 6 },
    { grant: 4 },
    { grant: 2 },
    { settle: 2 },
    { hold: 2 },
    { grant: 20 },
  ]);
  expect(next).toBeUndefined();
});

test.each([1, 2, 3, 5, 6])("pages of %i have every entry once", async (limit) => {
  const { list } = await givenLedger();
  const whole = (await list(50)).entries.map(({ id }) => id);

  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await list(limit, after);
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    ids.push(...page.entries.map(({ id }) => id));
    after = page.next;
  } while (after !== undefined);

  expect(ids).toEqual(whole);
});
