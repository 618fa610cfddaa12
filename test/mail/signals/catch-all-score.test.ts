import { listCatchAllParts, scoreCatchAll } from "@mailproof/mail/signals/catch-all-score";
import fc from "fast-check";
import { expect, test } from "vitest";
import { areaUnderCurve, humanLocals, machineLocals } from "./local-part-lab.ts";

const UNKNOWN = { isRole: false, pattern: null } as const;
const patternPart = (local: string, pattern: string, isRole = false) =>
  listCatchAllParts(local, { isRole, pattern }).find(({ part }) => part === "pattern")?.value;

test("the confidence ranks unread names above machines' strings, 98 times in 100", () => {
  const confidence = (local: string) => scoreCatchAll(local, UNKNOWN);

  expect(
    areaUnderCurve(humanLocals.map(confidence), machineLocals.map(confidence)),
  ).toBeGreaterThan(0.98);
});

test.each([
  ["ann.lee", "first.last"],
  ["Ann.Lee+news", "first.last"],
  ["ann.lee2", "first.last"],
  ["ann.o'neill", "first.last"],
  ["ann.lee", "last.first"],
  ["ann.lee", "{first}.{last}"],
  ["a.lee", "f.last"],
  ["ann_l", "first_l"],
  ["ann-lee", "first-last"],
  ["王.小明", "f.last"],
])("the local part %s fits %s, whose separator is good evidence", (local, pattern) => {
  expect(patternPart(local, pattern)).toBe(0.25);
});

test.each([
  ["alee", "flast"],
  ["annlee", "firstlast"],
  ["annlee", "firstl"],
  ["ann", "first"],
  ["al", "fl"],
])("the local part %s fits %s, as many words do", (local, pattern) => {
  expect(patternPart(local, pattern)).toBe(0.1);
});

test.each([
  ["annlee", "first.last"],
  ["a.lee", "first.last"],
  ["ann.lee", "f.last"],
  ["ann.lee.kim", "first.last"],
  ["ann.", "first.last"],
  [".lee", "first.last"],
  ["ann_lee", "first.last"],
  ["ann.lee1234", "first.last"],
  ["4nn.lee", "first.last"],
  ["ann.lee", "first"],
  ["ann", "fl"],
  ["al", "flast"],
  ["", "first"],
])("the local part %j does not fit %s", (local, pattern) => {
  expect(patternPart(local, pattern)).toBe(-0.1);
});

test.each(["", "nickname", "first.", ".last", "first..last", "first@last", "{last}#{first}"])(
  "an unknown pattern (%j) changes no confidence",
  (pattern) => {
    expect(patternPart("ann.lee", pattern)).toBe(0);
  },
);

test("a role address need not fit the pattern of people's names", () => {
  expect(patternPart("info", "first.last", true)).toBe(0);
});

const anyLocal = fc.oneof(
  fc.constantFrom(...humanLocals, ...machineLocals),
  fc.string({ maxLength: 70 }),
  fc.string({ unit: "binary", maxLength: 70 }),
);
const anyPattern = fc.option(
  fc.oneof(fc.constantFrom("first.last", "f.last", "flast", "first", "last_first"), fc.string()),
);

test("the confidence is the sum of its parts, between 0 and 0.95", () => {
  fc.assert(
    fc.property(anyLocal, fc.boolean(), anyPattern, (local, isRole, pattern) => {
      const signals = { isRole, pattern };
      const sum = listCatchAllParts(local, signals).reduce((total, { value }) => total + value, 0);
      const confidence = scoreCatchAll(local, signals);

      expect(confidence).toBeCloseTo(sum, 10);
      expect(confidence).toBeGreaterThanOrEqual(0);
      expect(confidence).toBeLessThanOrEqual(0.95);
    }),
  );
});

test("neither a role word nor a fitting pattern lowers the confidence", () => {
  fc.assert(
    fc.property(anyLocal, anyPattern, (local, pattern) => {
      const [person, role] = [false, true].map((isRole) =>
        scoreCatchAll(local, { isRole, pattern }),
      );
      expect(role).toBeGreaterThanOrEqual(person ?? 1);

      const fits = pattern !== null && (patternPart(local, pattern) ?? 0) >= 0;
      const unfitted = fits ? scoreCatchAll(local, UNKNOWN) : 0;
      expect(person).toBeGreaterThanOrEqual(unfitted);
    }),
  );
});
