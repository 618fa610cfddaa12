import { expect, test } from "vitest";
import { ATTACKS } from "./attacks/all.ts";
import { AT_ONCE, isOn, phasesIn } from "./schedule.ts";

test.each([1, 3, 30, 120])("%d minutes begin and end calm, without a gap", (minutes) => {
  const phases = phasesIn(minutes);
  const ends = phases.map(({ toMs }) => toMs);

  expect(phases.at(0)).toMatchObject({ kind: "calm", fromMs: 0 });
  expect(phases.at(-1)?.kind).toBe("calm");
  expect(ends.at(-1)).toBeCloseTo(minutes * 60_000);
  for (const [n, { fromMs }] of phases.slice(1).entries()) expect(fromMs).toBeCloseTo(ends[n] ?? 0);
});

test("several attacks are on at any time, and each of them in every phase", () => {
  const turns = ATTACKS.map((_, turn) =>
    ATTACKS.filter((_one, at) => isOn(at, turn, ATTACKS.length)),
  );

  expect(turns.map(({ length }) => length)).toEqual(ATTACKS.map(() => AT_ONCE));
  expect(new Set(turns.flat())).toEqual(new Set(ATTACKS));
});

test("every attack has a name and an account of its own", () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length);
});
