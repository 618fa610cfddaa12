import { createBoundedMap } from "@mailproof/core/lib/bounded-map";
import { expect, test } from "vitest";

test("a bounded map drops the entry that was written longest ago", () => {
  const map = createBoundedMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  map.set("c", 4);
  expect([map.get("a"), map.get("b"), map.get("c"), map.size()]).toEqual([3, undefined, 4, 2]);
});

test("a bounded map that was emptied holds what is written later", () => {
  const map = createBoundedMap<number>(1);
  map.set("a", 1);
  expect([map.deleteOldest(), map.deleteOldest()]).toEqual([1, undefined]);
  map.set("b", 2);
  map.set("c", 3);
  expect([map.get("b"), map.get("c"), map.deleteOldest()]).toEqual([undefined, 3, 3]);
});

test("a bounded map holds what a list that is searched from its front holds, over 20,000 random steps", () => {
  const map = createBoundedMap<number>(50);
  let list: (readonly [key: string, value: number])[] = [];
  let seed = 1;
  const pick = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let step = 0; step < 20_000; step++) {
    const key = `k${pick(80)}`;
    const kind = pick(10);
    list = kind === 0 ? list.slice(1) : list.filter(([other]) => other !== key);
    if (kind === 0) map.deleteOldest();
    if (kind === 1) map.delete(key);
    if (kind > 1) {
      map.set(key, step);
      list = [...list, [key, step] as const].slice(-50);
    }
    expect(map.size()).toBe(list.length);
    for (const [other, value] of list.slice(0, 3)) expect(map.get(other)).toBe(value);
  }
});
