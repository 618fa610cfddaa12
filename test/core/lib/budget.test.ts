import { createBudget, type Hold } from "@mailproof/core/lib/budget";
import { expect, test } from "vitest";

test("a share is limited, and a hold that ended can be taken again, once", () => {
  const { take, left } = createBudget({ inAll: 100, perShare: 10 });
  const first = take("a", 7);
  expect(take("a", 4), "more than the share has left").toBeUndefined();
  expect(left("a")).toEqual({ ofShare: 3, ofAll: 86 });

  first?.giveBack();
  first?.giveBack();
  expect(left("a")).toEqual({ ofShare: 10, ofAll: 100 });
  expect(left("b")).toEqual({ ofShare: 10, ofAll: 100 });
});

test("one share leaves half to the others, and the next one half of that", () => {
  const { take } = createBudget({ inAll: 64, perShare: 64 });
  const fill = (who: string): number => {
    let taken = 0;
    while (take(who, 1)) taken += 1;
    return taken;
  };
  expect(["a", "b", "c", "d"].map(fill)).toEqual([32, 16, 8, 4]);
});

test("a hold grows in pieces until it is refused, shrinks by what was not used, and ends with giveBack", () => {
  const { take, left } = createBudget({ inAll: 100, perShare: 10 });
  const hold = take("a", 0) as Hold;
  expect([hold.more(6), hold.more(6), hold.more(4)]).toEqual([true, false, true]);
  expect(hold.more(-3)).toBe(true);
  expect(left("a").ofShare).toBe(3);
  hold.giveBack();
  expect(hold.more(1), "it has ended").toBe(false);
  expect(left("a").ofShare).toBe(10);
});

test("with refillMs, only time refills, and what was not used", () => {
  let nowMs = 1_000_000;
  const { take, left } = createBudget(
    { inAll: 100, perShare: 10, refillMs: 1_000 },
    () => new Date(nowMs),
  );
  const hold = take("a", 10);
  hold?.more(-4);
  hold?.giveBack();
  expect(left("a").ofShare).toBe(4);
  nowMs += 300;
  expect(left("a")).toEqual({ ofShare: 7, ofAll: 97 });
  nowMs += 10_000;
  expect(left("a")).toEqual({ ofShare: 10, ofAll: 100 });
  nowMs -= 60_000;
  expect(left("a"), "the clock was set back").toEqual({ ofShare: 10, ofAll: 100 });
});

test("a budget for all holds back those who have taken nothing", () => {
  const { take } = createBudget({ inAll: 3, perShare: 1 });
  expect(["a", "b", "c", "d"].map((who) => take(who, 1) !== undefined)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
