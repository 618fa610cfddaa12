import { grantCredits } from "@mailproof/core/accounts/accounts";
import { credits, type Halves } from "@mailproof/core/money/credits";
import { NOTHING } from "@mailproof/core/money/items";
import { crossingOf, lowLineAfter } from "@mailproof/core/money/lines";
import fc from "fast-check";
import { expect, test } from "vitest";
import { given } from "../../given.ts";
import { creditsOf, newsIn } from "../../ledger.ts";
import { whenVerified } from "../../send.ts";

const halves = (amount: number) => amount as Halves;
const balanceOf = (available: number, lowLine: number) => ({
  ...NOTHING,
  available: halves(available),
  lowLine: halves(lowLine),
});

/** Credits are depleted when less than the 2 halves are left that one verification costs. */
test.each<[number, number, number, string[]]>([
  // available, low line, taken, what it crosses
  [100, 10, 2, []],
  [12, 10, 2, []],
  [11, 10, 2, ["credits.low"]],
  [10, 10, 1, ["credits.low"]],
  [9, 10, 2, []],
  [4, 10, 2, []],
  [3, 10, 2, ["credits.depleted"]],
  [2, 10, 2, ["credits.depleted"]],
  [1, 10, 1, []],
  [100, 10, 100, ["credits.low", "credits.depleted"]],
  [10, 0, 9, ["credits.depleted"]],
  [10, 1, 9, ["credits.depleted"]],
  [10, 1, 10, ["credits.low", "credits.depleted"]],
  [10, 0, 8, []],
])("of %d with a line at %d, taking %d crosses %j", (available, lowLine, taken, events) => {
  const { crossed } = crossingOf(balanceOf(available, lowLine), halves(taken));

  expect(crossed.map(({ event }) => event)).toEqual(events);
});

test("a debit that was made for one balance is written over another only if it crosses the very same lines", () => {
  const amount = fc.integer({ min: 0, max: 60 });
  fc.assert(
    fc.property(amount, amount, amount, amount, (seen, found, lowLine, taken) => {
      fc.pre(taken > 0 && taken <= seen);
      const { crossed, leaving } = crossingOf(balanceOf(seen, lowLine), halves(taken));
      const { atLeast = 0, atMost = Number.POSITIVE_INFINITY } = leaving ?? {};
      const left = found - taken;
      if (left < atLeast || left > atMost) return;

      expect(left).toBeGreaterThanOrEqual(0);
      expect(crossingOf(balanceOf(found, lowLine), halves(taken)).crossed).toEqual(crossed);
    }),
    { numRuns: 5_000 },
  );
});

test("a balance that did not move can always be taken from", () => {
  const amount = fc.integer({ min: 1, max: 60 });
  fc.assert(
    fc.property(amount, amount, amount, (seen, lowLine, taken) => {
      fc.pre(taken <= seen);
      const { leaving } = crossingOf(balanceOf(seen, lowLine), halves(taken));

      expect(seen - taken).toBeGreaterThanOrEqual(leaving?.atLeast ?? 0);
      expect(seen - taken).toBeLessThanOrEqual(leaving?.atMost ?? seen);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  [20_000, 2_000],
  [19, 1],
  [9, 0],
  [0, 0],
])("after a grant of %d halves the line is at %d", (granted, line) => {
  expect(lowLineAfter(halves(granted))).toBe(line);
});

const whenSpent = (house: Awaited<ReturnType<typeof given>>, from: number, to: number) =>
  Promise.all(
    Array.from({ length: to - from }, (_row, n) =>
      whenVerified(house.world, house.liveKey, { email: `ann${from + n}@x.com` }),
    ),
  );

test("racing debits tell each line that is crossed once, and all of them are paid", async () => {
  const house = await given({ balance: 50 });

  const answers = await whenSpent(house, 0, 50);

  expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true);
  expect(await creditsOf(house)).toMatchObject({ available: 0, spent: 50 });
  expect(newsIn(house)).toEqual(["credits.low", "credits.depleted"]);
});

test("two debits of which either would cross a line tell it once", async () => {
  const house = await given({ balance: 50 });
  await whenSpent(house, 0, 45);

  await whenSpent(house, 45, 47);

  expect(newsIn(house)).toEqual(["credits.low"]);
});

test("the news are the owner's, and say what is left and which line it fell below", async () => {
  const house = await given({ balance: 20 });
  await whenSpent(house, 0, 20);

  const news = house.table.items().filter(({ sk }) => sk === "EVENT");

  const { account } = house;
  expect(news.map(({ owner, type, data }) => ({ owner, type, data }))).toEqual([
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

test("credits that come and go again are told again", async () => {
  const house = await given({ balance: 10 });
  await whenSpent(house, 0, 10);
  await grantCredits(house.world, house.account, credits(10));

  await whenSpent(house, 10, 20);

  expect(newsIn(house)).toEqual([
    "credits.low",
    "credits.depleted",
    "credits.low",
    "credits.depleted",
  ]);
});

test("a request that is refused with 402 tells nothing", async () => {
  const house = await given({ balance: 0.5 });
  await whenVerified(house.world, house.liveKey, { email: "ann@x.com" });

  expect(newsIn(house)).toEqual([]);
});
