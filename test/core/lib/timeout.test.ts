import { createBudget, type Hold } from "@mailproof/core/lib/budget";
import { prefetch } from "@mailproof/core/lib/prefetch";
import { withTimeout } from "@mailproof/core/lib/timeout";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";

const after = async (world: ReturnType<typeof givenWorld>["world"], ms: number) => {
  await world.sleep(ms);
  return "done";
};

test.each([
  [9, "done"],
  [11, "late"],
])(
  "withTimeout returns within ten milliseconds for work that takes %d ms: %s",
  async (ms, outcome) => {
    const { world } = givenWorld();

    expect(await withTimeout(world, 10, after(world, ms))).toBe(outcome);
  },
);

test("work that fails after its timeout causes no unhandled rejection", async () => {
  const { world } = givenWorld();
  const breaking = after(world, 20).then(() => Promise.reject(new Error("broken")));

  expect(await withTimeout(world, 10, breaking)).toBe("late");
  await world.sleep(100);
});

test.each(["before", "during"])(
  "withTimeout returns late at once when the signal fires %s the work",
  async (when) => {
    const { world } = givenWorld();
    const { signal, abort } = createSignal();
    if (when === "before") abort();
    const work = Promise.withResolvers<string>();

    const outcome = withTimeout(world, 60_000, work.promise, signal);
    abort();

    expect(await outcome).toBe("late");
    work.reject(new Error("broken"));
  },
);

const createSignal = () => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
};

test("withTimeout aborts its timer once the work is done", async () => {
  const { world } = givenWorld();
  const signals: (AbortSignal | undefined)[] = [];
  const sleep: typeof world.sleep = (ms, signal) => {
    signals.push(signal);
    return world.sleep(ms, signal);
  };

  await withTimeout({ sleep }, 60_000, Promise.resolve("done"));

  expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
});

test("the budget limits each share, and takes a hold back only once", () => {
  const { take, left } = createBudget({ inAll: 100, perShare: 10 });
  const first = take("a", 7);
  expect(take("a", 4), "more than the share has left").toBeUndefined();
  expect(left("a")).toEqual({ ofShare: 3, ofAll: 86 });

  first?.giveBack();
  first?.giveBack();
  expect(left("a")).toEqual({ ofShare: 10, ofAll: 100 });
  expect(left("b")).toEqual({ ofShare: 10, ofAll: 100 });
});

test("one account gets at most half of a budget, and the next account half of the rest", () => {
  const { take } = createBudget({ inAll: 64, perShare: 64 });
  const fill = (who: string): number => {
    let taken = 0;
    while (take(who, 1)) taken += 1;
    return taken;
  };
  expect(["a", "b", "c", "d"].map(fill)).toEqual([32, 16, 8, 4]);
});

test("a hold grows in pieces until its refusal, shrinks by the unused part, and ends with giveBack", () => {
  const { take, left } = createBudget({ inAll: 100, perShare: 10 });
  const hold = take("a", 0) as Hold;
  expect([hold.more(6), hold.more(6), hold.more(4)]).toEqual([true, false, true]);
  expect(hold.more(-3)).toBe(true);
  expect(left("a").ofShare).toBe(3);
  hold.giveBack();
  expect(hold.more(1), "it has ended").toBe(false);
  expect(left("a").ofShare).toBe(10);
});

test("with refillMs, a share grows back by its unused part and with time", () => {
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

test("the budget refuses a caller that has taken nothing once the common part is exhausted", () => {
  const { take } = createBudget({ inAll: 3, perShare: 1 });
  expect(["a", "b", "c", "d"].map((who) => take(who, 1) !== undefined)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

/** Makes each item when the test finishes it; `begun` are those that were begun. */
const createLoads = () => {
  const begun: number[] = [];
  const started = new Map<number, PromiseWithResolvers<string>>();
  const make = (one: number) => {
    begun.push(one);
    const order = Promise.withResolvers<string>();
    started.set(one, order);
    return order.promise;
  };
  return {
    begun,
    make,
    finish: (one: number) => started.get(one)?.resolve(`made ${one}`),
    orders: started,
  };
};

test("prefetch returns items in their order although they end in another, and works on a limited number", async () => {
  const { begun, make, finish } = createLoads();
  const made = prefetch([1, 2, 3, 4, 5], 2, make);

  const first = made.next();
  expect(begun).toEqual([1, 2, 3]);
  finish(3);
  finish(1);
  expect(await first).toMatchObject({ value: "made 1" });

  const second = made.next();
  expect(begun).toEqual([1, 2, 3, 4]);
  finish(2);
  expect(await second).toMatchObject({ value: "made 2" });
});

test("prefetch begins no further item after its reader leaves", async () => {
  const { begun, make, finish } = createLoads();
  const made = prefetch([1, 2, 3, 4, 5], 1, make);

  const first = made.next();
  finish(1);
  await first;
  await made.return(undefined);

  expect(begun).toEqual([1, 2]);
});

test("prefetch returns the items before a failure and then throws the failure", async () => {
  const { make, finish, orders: started } = createLoads();
  const made = prefetch([1, 2], 1, make);

  const first = made.next();
  started.get(2)?.reject(new Error("broken"));
  finish(1);

  expect(await first).toMatchObject({ value: "made 1" });
  await expect(made.next()).rejects.toThrow("broken");
});

test.each([
  ["no items", []],
  ["one item", [1]],
  ["fewer items than it makes ahead", [1, 2]],
  ["more items than it makes ahead", [1, 2, 3, 4, 5, 6]],
])("prefetch returns every item once for %s", async (_case, all: number[]) => {
  const made = await Array.fromAsync(prefetch(all, 3, async (one) => one * 10));

  expect(made).toEqual(all.map((one) => one * 10));
});
