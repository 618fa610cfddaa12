import { madeAhead } from "@mailproof/core/made-ahead";
import { expect, test } from "vitest";

/** Makes each when it is told to, and remembers what was begun. */
const workshop = () => {
  const begun: number[] = [];
  const orders = new Map<number, PromiseWithResolvers<string>>();
  const make = (one: number) => {
    begun.push(one);
    const order = Promise.withResolvers<string>();
    orders.set(one, order);
    return order.promise;
  };
  return { begun, make, finish: (one: number) => orders.get(one)?.resolve(`made ${one}`), orders };
};

test("everything comes in its order, whatever is finished first, and so many are under way at most", async () => {
  const { begun, make, finish } = workshop();
  const made = madeAhead([1, 2, 3, 4, 5], 2, make);

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
  const { begun, make, finish } = workshop();
  const made = madeAhead([1, 2, 3, 4, 5], 1, make);

  const first = made.next();
  finish(1);
  await first;
  await made.return(undefined);

  expect(begun).toEqual([1, 2]);
});

test("what fails is told in its turn, and what comes before it is not lost", async () => {
  const { make, finish, orders } = workshop();
  const made = madeAhead([1, 2], 1, make);

  const first = made.next();
  orders.get(2)?.reject(new Error("broken"));
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
  const made = await Array.fromAsync(madeAhead(all, 3, async (one) => one * 10));

  expect(made).toEqual(all.map((one) => one * 10));
});
