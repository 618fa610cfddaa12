import {
  BOT_THRESHOLD,
  isBot,
  listBotSignals,
  scoreBotLikeness,
} from "@mailproof/mail/signals/bot";
import { expect, test } from "vitest";
import { areaUnderCurve, humanLocals, machineLocals } from "./local-part-lab.ts";

test.each([
  ["letters and digits drawn blindly", "xk7qz9w2"],
  ["letters drawn blindly", "qzkfjwpx"],
  ["a hash", "d41d8cd98f00b204e9800998ecf8427e"],
  ["an identifier with hyphens", "123e4567-e89b-12d3-a456-426614174000"],
  ["a row of keys", "asdfgh"],
  ["a row of keys backwards", "poiuytr"],
  ["a row of keys on a French board", "azerty"],
  ["several short rows", "qweasdzxc"],
  ["a row twice", "asdasd"],
  ["the alphabet", "abcdefg"],
  ["a key held down", "aaaaaaaa"],
])("the detector flags %s: %s", (_, local) => {
  expect(isBot(local)).toBe(true);
});

test.each([
  ["a name", "ann.lee"],
  ["a name that holds a short run", "stuart.wert"],
  ["a long name of another language", "wrzesniewski"],
  ["a Vietnamese name run together", "nguyenvanminh"],
  ["a name with a year", "yvonne1986"],
  ["a name with a number that counts up", "john123456"],
  ["a phone number", "13800138000"],
  ["initials", "jfk"],
  ["a name and a tag drawn blindly", "ann.lee+xk7qz9w2"],
  ["a role", "no-reply"],
  ["a doubled name", "mimi"],
  ["a name in Cyrillic letters", "иван.петров"],
  ["a name in Chinese characters", "王伟"],
  ["one letter", "a"],
  ["an empty local part", ""],
])("the detector does not flag %s: %s", (_, local) => {
  expect(isBot(local)).toBe(false);
});

test("the threshold catches 85 of 100 machines' strings, and flags fewer than one name in 100", () => {
  const getShare = (locals: readonly string[]) => locals.filter(isBot).length / locals.length;

  expect(getShare(machineLocals)).toBeGreaterThan(0.85);
  expect(getShare(humanLocals)).toBeLessThan(0.01);
  expect(
    areaUnderCurve(machineLocals.map(scoreBotLikeness), humanLocals.map(scoreBotLikeness)),
  ).toBeGreaterThan(0.98);
});

test("the bot likeness equals one minus the product of the signals' complements, as a reader can check by hand", () => {
  const doubt = listBotSignals("xk7qz9w2").reduce((left, { value }) => left * (1 - value), 1);

  expect(scoreBotLikeness("xk7qz9w2")).toBeCloseTo(1 - doubt, 2);
});

test("digits alone raise the likeness, and never set the flag", () => {
  expect(scoreBotLikeness("123456789")).toBe(0.3);
  expect(BOT_THRESHOLD).toBeGreaterThan(0.3);
});

test("a local part of a million characters costs no more time than one of 64", () => {
  expect(isBot("qwert".repeat(200_000))).toBe(true);
  expect(isBot("a1".repeat(500_000))).toBe(true);
});
