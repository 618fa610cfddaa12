import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import { expect, test } from "vitest";

const createNumbers = (weightMax: number) =>
  createBoundedMap<number>({ weightMax, weigh: (weight) => weight });

test("a bounded map drops the entries that were not used for longest", () => {
  const map = createBoundedMap<number>({ weightMax: 4 });
  for (const key of ["a", "b", "c"]) map.set(key, 1);
  map.get("a");
  map.set("d", 1);
  map.set("e", 1);
  expect(["a", "b", "c", "d", "e"].filter((key) => map.get(key) !== undefined)).toEqual([
    "a",
    "d",
    "e",
  ]);
});

test("a bounded map stores no entry above half of its limit, and drops the entry that it replaces", () => {
  const map = createNumbers(10);
  map.set("a", 5);
  expect(map.get("a")).toBe(5);
  map.set("a", 6);
  expect([map.get("a"), map.isEmpty()]).toEqual([undefined, true]);
});

test("over 20,000 random operations a bounded map keeps its limit, returns no old value, and keeps the last used", () => {
  const weightMax = 50;
  const map = createNumbers(weightMax);
  const values = new Map<string, number>();
  const old: string[] = [];
  let used: string[] = [];
  let seed = 1;
  const pick = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let step = 0; step < 20_000; step++) {
    const key = `k${pick(80)}`;
    const kind = pick(10);
    used = used.filter((other) => other !== key);
    if (kind === 0) {
      map.delete(key);
      values.delete(key);
    } else if (kind < 5) {
      const weight = 1 + pick(5);
      map.set(key, weight);
      values.set(key, weight);
      used.push(key);
    } else {
      const found = map.get(key);
      if (found !== undefined && found !== values.get(key)) old.push(key);
      if (found !== undefined) used.push(key);
    }
    // 4 entries weigh at most 20, less than half.
    used = used.slice(-4);
    for (const recent of used) expect(map.get(recent)).toBe(values.get(recent));
  }
  expect(old).toEqual([]);
  const weight = Array.from({ length: 80 }, (_, n) => map.get(`k${n}`) ?? 0);
  expect(weight.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(weightMax);
});
