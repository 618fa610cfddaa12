import { readFileSync } from "node:fs";
import { createLists } from "@mailproof/core/mail/lists/lists";
import { isBot, scoreBotLikeness } from "@mailproof/core/signals/bot";
import { listCatchAllParts, scoreCatchAll } from "@mailproof/core/signals/catch-all-score";
import { scoreNameLikeness } from "@mailproof/core/signals/name-likeness";
import { suggestTypo } from "@mailproof/core/signals/typo";
import { expect, test } from "vitest";
import {
  areaUnderCurve,
  calibration,
  humanLocals,
  machineLocals,
} from "../signals/local-part-lab.ts";
import { PROVIDERS } from "../signals/providers.ts";
import { deadDomains } from "../signals/typo-lab.ts";

// Goal: what docs/scores.md publishes about each number is what the lab measures today.
// Method: the tables are made here, printed, and looked for in the page. When a weight changes on purpose, copy
// the printed table into the page.

/** The formatter pads the page's tables, which is of no meaning. */
const removePadding = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---");
const page = removePadding(readFileSync("docs/scores.md", "utf8"));
const publish = (heading: string, text: string) => {
  console.info(`${heading}\n${text}\n`);
  return removePadding(text);
};

const TENTHS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

const formatMeasured = (
  high: readonly [string, readonly number[]],
  low: readonly [string, readonly number[]],
  bounds: readonly number[],
) =>
  `${calibration(high, low, bounds)}\n\nArea under the curve: ${areaUnderCurve(high[1], low[1]).toFixed(3)}.`;

test("the page shows the calibration of name likeness", () => {
  const table = formatMeasured(
    ["people", humanLocals.map(scoreNameLikeness)],
    ["machines", machineLocals.map(scoreNameLikeness)],
    TENTHS,
  );

  expect(page).toContain(publish("Name likeness", table));
});

test("the page shows the calibration of catch_all_confidence", () => {
  const confidence = (local: string) => scoreCatchAll(local, { isRole: false, pattern: null });
  const table = formatMeasured(
    ["people", humanLocals.map(confidence)],
    ["machines", machineLocals.map(confidence)],
    TENTHS.filter((bound) => bound <= 0.6),
  );

  expect(page).toContain(publish("catch_all_confidence, pattern unknown", table));
});

test("the page shows the calibration of bot likeness, and what its threshold catches", () => {
  const table = formatMeasured(
    ["machines", machineLocals.map(scoreBotLikeness)],
    ["people", humanLocals.map(scoreBotLikeness)],
    TENTHS,
  );
  const percent = (locals: readonly string[]) =>
    ((100 * locals.filter(isBot).length) / locals.length).toFixed(1);
  const sentence = `Flagged: ${percent(machineLocals)} % of the machines, ${percent(humanLocals)} % of the people.`;

  expect(page).toContain(publish("Bot likeness", `${table}\n\n${sentence}`));
});

const { rareEnding } = createLists();

test("the page shows how often a typo suggestion is right", () => {
  const sentenceText = deadDomains.map(({ typed, meant }) => {
    const hasRareEnding = rareEnding(typed);
    const signals = { mailWorks: false, squatOf: null, hasRareEnding };
    const advice = suggestTypo({ local: "ann", domain: typed }, signals, PROVIDERS);
    return { ...advice, meant, isRight: advice.suggestion === `ann@${meant}` };
  });
  const rows = [0.5, 0.6, 0.7, 0.8, 0.9, 0.99].map((from, at, all) => {
    const to = all[at + 1] ?? 1;
    const here = sentenceText.filter(
      ({ confidence }) => (confidence ?? 0) >= from && (confidence ?? 0) < to,
    );
    const right = here.filter(({ isRight }) => isRight).length;
    return `| ${from} | ${here.length} | ${right} | ${(right / here.length).toFixed(2)} |`;
  });
  const typos = sentenceText.filter(({ meant }) => meant !== null);
  const firms = sentenceText.filter(({ meant }) => meant === null);
  const misled = firms.filter(({ suggestion }) => suggestion !== null).length;
  const found = typos.filter(({ isRight }) => isRight).length;
  const sentence = `Of ${typos.length} typos ${found} were corrected; of ${firms.length} dead firms ${misled} got a suggestion.`;
  const table = [
    "| confidence from | suggestions | right | share |",
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");

  expect(page).toContain(publish("Typo confidence", `${table}\n\n${sentence}`));
});

const examples = [
  ...page.matchAll(
    /^\| (\S+) \| (yes|no) \| (\S+) \| (\S+) \| (-?[\d.]+(?: \| -?[\d.]+){7}) \|$/gm,
  ),
].map(([, local = "", role, pattern = "", sent = "", numbers = ""]) => ({
  local,
  role,
  pattern,
  sent,
  numbers,
}));

/** "12+8": twelve addresses whose mail was delivered, and eight whose mail bounced. */
const readSent = (text: string) => {
  const [delivered = 0, bounced = 0] = text === "-" ? [] : text.split("+").map(Number);
  return { delivered, bounced };
};

test("the page's examples of catch_all_confidence add up as the code does", () => {
  const made = examples.map(({ local, role, pattern, sent }) => {
    const signals = {
      isRole: role === "yes",
      pattern: pattern === "-" ? null : pattern,
      mail: readSent(sent),
    };
    const values = listCatchAllParts(local, signals).map(({ value }) => value);
    return [...values, scoreCatchAll(local, signals)].map((n) => n.toFixed(2)).join(" | ");
  });

  expect(made).toHaveLength(9);
  expect(made).toEqual(examples.map(({ numbers }) => numbers));
});
