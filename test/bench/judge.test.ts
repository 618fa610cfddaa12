import { expect, test } from "vitest";
import {
  type Comparison,
  compareRounds,
  formatSentence,
  judge,
  pickBest,
} from "../../bench/against/judge.ts";
import type { Figures } from "../../bench/against/scenarios.ts";
import { RATIOS } from "../../bench/budgets.ts";

const NOTHING: Figures = {
  seconds: Number.NaN,
  processorSeconds: Number.NaN,
  peakMegabytes: Number.NaN,
  sessions: 0,
  queries: 0,
  bytesWritten: Number.NaN,
};

const givenTime = (ratio: number): Comparison => ({
  row: "export",
  figure: "processorSeconds",
  reference: 2,
  here: 2 / ratio,
  ratio,
});

const TIMES = [
  [[1], "good"],
  [[1.4], "good"],
  [[0.97], "good"],
  [[0.96], "warning"],
  [[0.9], "warning"],
  [[0.89], "again"],
  [[0.5, 0.5], "again"],
  [[0.5, 0.5, 0.5], "red"],
  [[0.89, 0.7, 0.89], "red"],
  [[0.5, 0.95], "warning"],
  [[0.5, 0.5, 1], "good"],
  [[Number.NaN], "good"],
  [[], "good"],
] as const;

test.each(TIMES)("a time with the ratios %j is %s", (ratios, judgement) => {
  expect(judge(ratios.map(givenTime))).toBe(judgement);
});

test("a figure without a limit is good, however low its ratio", () => {
  expect(judge([{ ...givenTime(0.1), figure: "peakMegabytes" }])).toBe("good");
});

const givenSessions = (reference: number, here: number) =>
  compareRounds("one-server", {
    reference: [{ ...NOTHING, sessions: reference }],
    here: [{ ...NOTHING, sessions: here }],
  }).filter(({ figure }) => figure === "sessions");

test.each([
  [20, 20, "good"],
  [20, 30, "warning"],
  [20, 40, "again"],
  [0, 0, "good"],
  [0, 1, "again"],
] as const)("of %d sessions at the reference, %d here are %s", (reference, here, judgement) => {
  expect(judge(givenSessions(reference, here))).toBe(judgement);
});

test("a ratio is of the medians of both, and below 1 where this tree takes more", () => {
  const toRounds = (seconds: readonly number[]) =>
    seconds.map((one) => ({ ...NOTHING, seconds: one }));
  const [time] = compareRounds("list", {
    reference: toRounds([2, 90, 1]),
    here: toRounds([4, 3, 80]),
  });

  expect(time).toEqual({ row: "list", figure: "seconds", reference: 2, here: 4, ratio: 0.5 });
});

test("a sentence names the figure, its ratio, what is required, and both figures", () => {
  const worst = pickBest([0.5, 0.625, 0.55].map(givenTime));

  expect(worst && formatSentence(worst)).toBe(
    "processor time of export: ratio 0.63, at least 0.9 is required (reference 2 s, here 3.2 s).",
  );
});

test("no limit is above 1, which the same commit would miss by chance", () => {
  expect(
    Object.values(RATIOS)
      .flatMap((row) => Object.values(row))
      .filter((least) => least > 1),
  ).toEqual([]);
});
