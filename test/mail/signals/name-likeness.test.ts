import { scoreNameLikeness, toBareLocal } from "@mailproof/mail/signals/name-likeness";
import { COMMON_WORDS, FAMILY_NAMES, GIVEN_NAMES } from "@mailproof/mail/signals/name-words";
import { NAMES_BY_COUNTRY } from "@mailproof/mail/signals/names-by-country";
import { expect, test } from "vitest";
import {
  areaUnderCurve,
  humanLocals,
  machineLocals,
  UNREAD_FAMILY,
  UNREAD_GIVEN,
} from "./local-part-lab.ts";

test("the lab uses no name that the model has read", () => {
  const read = new Set([...GIVEN_NAMES, ...FAMILY_NAMES, ...COMMON_WORDS, ...NAMES_BY_COUNTRY]);

  expect([...UNREAD_GIVEN, ...UNREAD_FAMILY].filter((name) => read.has(name))).toEqual([]);
});

test("the model's words are written in a-z, as its alphabet is", () => {
  const words = [...GIVEN_NAMES, ...FAMILY_NAMES, ...COMMON_WORDS, ...NAMES_BY_COUNTRY];

  expect(words.filter((word) => !/^[a-z]+$/.test(word))).toEqual([]);
});

test("unread names read more like names than machines' strings, 98 times in 100", () => {
  const area = areaUnderCurve(
    humanLocals.map(scoreNameLikeness),
    machineLocals.map(scoreNameLikeness),
  );

  expect(area).toBeGreaterThan(0.98);
});

test.each([
  ["ann.lee", "qzkfjwpx"],
  ["szczepan.brzezinski", "xk7qz9w2"],
  ["j.smith", "j.smxth"],
  ["smith84", "8sm4ith"],
  ["dragonslayer2000", "a9f3b2c1d4e5"],
  ["jean-luc.picard", "j-e-a-n-l-u-c"],
  ["obrien", "o#bri=en"],
])("%s reads more like a name than %s", (more, less) => {
  expect(scoreNameLikeness(more)).toBeGreaterThan(scoreNameLikeness(less));
});

test.each(["王伟", "иван", "", "a"])("%j is neither for nor against", (local) => {
  expect(scoreNameLikeness(local)).toBe(0.5);
});

test.each([
  ["a tag is no part of the name", "ann.lee+qzkfjwpx", "ann.lee"],
  ["capitals do not count", "Ann.LEE", "ann.lee"],
  ["accents do not count", "renée.müller", "renee.muller"],
])("%s", (_, local, plain) => {
  expect(scoreNameLikeness(local)).toBe(scoreNameLikeness(plain));
});

test("a plus in front is no tag", () => {
  expect(toBareLocal("+ann")).toBe("+ann");
});

test("what is longer than a local part may be is cut before it is read", () => {
  expect(toBareLocal("a".repeat(1_000_000))).toHaveLength(64);
  expect(scoreNameLikeness("a1".repeat(500_000))).toBeLessThan(0.01);
});
