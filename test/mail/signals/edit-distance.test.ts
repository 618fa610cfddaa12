import { measureEditDistance } from "@mailproof/mail/signals/edit-distance";
import { expect, test } from "vitest";

test.each([
  ["nothing", "gmail", "gmail", 0],
  ["nothing in nothing", "", "", 0],
  ["a key beside the one meant", "gnail", "gmail", 0.75],
  ["a key far from the one meant", "gtail", "gmail", 1],
  ["a key beside the one meant on a French board only", "gpail", "gmail", 0.75],
  ["two keys swapped", "gmial", "gmail", 0.75],
  ["a key held down", "gmaill", "gmail", 0.75],
  ["one of two equal letters", "yaho", "yahoo", 0.75],
  ["a key too many", "gmapil", "gmail", 1],
  ["a key too few", "gail", "gmail", 1],
  ["the first key too few", "mail", "gmail", 1],
  ["two slips", "gnaill", "gmail", 1.5],
  ["two letters out of none", "ab", "", 2],
  ["none out of two letters", "", "ab", 2],
  ["three slips, which is another word", "gnqol", "gmail", Infinity],
  ["another word", "firm", "gmail", Infinity],
  ["a much longer word", "gmailservice", "gmail", Infinity],
])("%s: %j for %j costs %d", (_, typed, meant, cost) => {
  expect(measureEditDistance(typed, meant)).toBe(cost);
});
