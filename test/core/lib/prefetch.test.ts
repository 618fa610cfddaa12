import { prefetch } from "@mailproof/core/lib/prefetch";
import { expect, test } from "vitest";

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

test("everything comes in its order, whatever is finished first, and so many are under way at most", async () => {
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

test("nothing is begun any more when the reader leaves", async () => {
  const { begun, make, finish } = createLoads();
  const made = prefetch([1, 2, 3, 4, 5], 1, make);

  const first = made.next();
  finish(1);
  await first;
  await made.return(undefined);

  expect(begun).toEqual([1, 2]);
});

test("a failure is thrown in its turn, and the items before it are not lost", async () => {
  const { make, finish, orders: started } = createLoads();
  const made = prefetch([1, 2], 1, make);

  const first = made.next();
  started.get(2)?.reject(new Error("broken"));
  finish(1);

  expect(await first).toMatchObject({ value: "made 1" });
  await expect(made.next()).rejects.toThrow("broken");
});

test.each([
  ["none", []],
  ["one", [1]],
  ["fewer than are made ahead", [1, 2]],
  ["more", [1, 2, 3, 4, 5, 6]],
])("of %s everything comes once", async (_case, all: number[]) => {
  const made = await Array.fromAsync(prefetch(all, 3, async (one) => one * 10));

  expect(made).toEqual(all.map((one) => one * 10));
});
