import { getBalance, TOTALS } from "@mailproof/core/money/balance";
import { credits, type Halves } from "@mailproof/core/money/credits";
import { toEntryItem } from "@mailproof/core/money/items";
import { move, openBalance } from "@mailproof/core/money/ledger";
import {
  MOVES,
  type MovedAmounts,
  type MoveKind,
  toBalanceChanges,
} from "@mailproof/core/money/moves";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";

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

test("the ledger stores a step of an operation once, whatever the number and amounts of retries", async () => {
  const table = await givenBalance({ held: 2 });
  await table.transact(move(createEntry({ settle: halves(1) }, "end")));
  const again = move(createEntry({ release: halves(1) }, "end"));

  expect(await table.transact(again)).toEqual({ outcome: "refused", refusedWrite: again[0] });
  expect(await getBalance(table, "acc_1")).toMatchObject({ held: 1, spent: 1, refunded: 0 });
});

test("a debit's write carries the least balance that the debit may leave as its condition", async () => {
  const table = await givenBalance({ granted: 10 });
  const held = { hold: halves(4) };
  const refused = await table.transact(move(createEntry(held), 0, { atLeast: 6, atMost: 5 }));
  const result = await table.transact(move(createEntry(held), 0, { atLeast: 6, atMost: 6 }));

  expect([refused.outcome, result.outcome]).toEqual(["refused", "committed"]);
});

test("an entry belongs to the month in which its operation began, whenever the operation ends", () => {
  const origin = { account: "acc_1", operation: "job_1", openedAt: "2026-11-30T23:59:59.999Z" };
  const end = {
    step: "end" as const,
    at: "2026-12-02T00:00:00.000Z",
    moved: {},
    reason: "verify" as const,
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
