import { RULE_FAMILIES } from "@mailproof/mail/smtp/reply-rules/rules";
import { describe, expect, test } from "vitest";
import { createAttacks, listPatterns } from "./attacks.ts";
import { counter, TooManySteps } from "./steps.ts";

// Goal: no text makes a pattern of ours take longer than in proportion to the text, wherever the text comes from.
// Method: every pattern is read from the sources, texts are made that should be hard for it (attacks.ts), and what a
// backtracking matcher looks at is counted (steps.ts): no clock is asked. Four times the text may cost about four
// times the steps; sixteen times would be quadratic. Counted repetitions ({0,60}) cost their number at each letter.
// Not the script of the documents' page: it reads our own examples, in a reader's browser.

const SHORT = 128;
const LONG = 4 * SHORT;
const GROWTH_MAX = 7;
/** Below this it does not matter how it grows: a bound in the pattern has not been reached by the short text. */
const STEPS_FREE = 8_000;
const STEPS_MAX = 400_000;

type Pattern = Pick<RegExp, "source" | "flags">;

/** The hardest text for it, and what that costs. */
const findWorst = (pattern: Pattern): { steps: number; growth: number; text: string } => {
  const { ast, count } = counter(pattern);
  let worst = { steps: 0, growth: 0, text: "" };
  for (const attack of createAttacks(ast, pattern.flags)) {
    const steps = getSteps(count, attack(LONG));
    if (steps <= worst.steps) continue;
    const growth = steps / getSteps(count, attack(SHORT));
    worst = { steps, growth, text: attack(20) };
  }
  return worst;
};

const getSteps = (count: ReturnType<typeof counter>["count"], text: string): number => {
  try {
    return count(text, STEPS_MAX).steps;
  } catch (error) {
    if (error instanceof TooManySteps) return Infinity;
    throw error;
  }
};

const isSlow = (pattern: Pattern): string[] => {
  const { steps, growth, text } = findWorst(pattern);
  return steps > STEPS_FREE && !(growth < GROWTH_MAX)
    ? [`/${pattern.source}/: ${steps} steps, ${growth} times those of a quarter: ${text}`]
    : [];
};

const { patterns, built } = listPatterns("packages/*/src/**/*.ts");
const files = [...new Set(patterns.map(({ file }) => file))];

describe("patterns that are written down", () => {
  test("are found", () => {
    expect(patterns.length).toBeGreaterThan(300);
  });

  test.each(files)("%s", (file) => {
    expect(patterns.filter((one) => one.file === file).flatMap(isSlow)).toEqual([]);
  });
});

/** Patterns that are put together from parts, and where: an example of each that no value shows. */
const BUILT: Readonly<Record<string, readonly RegExp[]>> = {
  "packages/core/src/accounts/key-format.ts": [/^mp_(live|test)_[0-9A-Za-z]{28}$/],
  // Of each address that is erased.
  "packages/core/src/accounts/subject.ts": [
    /(?<![\p{L}\p{N}._%+-])ann@x\.com(?![\p{L}\p{N}-]|\.[\p{L}\p{N}])/u,
  ],
  "packages/mail/src/smtp/reply-reader.ts": [
    /(?<![\w./])5\.[0-7]\.\d{1,3}(?!\w|\.\d)/,
    /(?<!\S|: )550[- ]5\.1\.1(?!\S)\s*/g,
  ],
  // Those are looked for in the values, below.
  "packages/mail/src/smtp/reply-rules/mailbox.ts": [],
  "packages/mail/src/smtp/reply-rules/throttles.ts": [],
  // From another domain's SPF record, and of these letters only (spf/parse.ts).
  "packages/mail/src/spf/macro.ts": [/[.\-+,/_=]/],
  "packages/docs-site/src/markdown.ts": [/\shref="([^"]*)"/],
  // Of the names of versions.
  "packages/mail/src/tag-list.ts": [/^\W*v\s*=\W*STSv1\b/i],
};

const listRegexes = (value: unknown): RegExp[] => {
  if (value instanceof RegExp) return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(listRegexes);
};

describe("patterns that are put together", () => {
  test("are known", () => {
    expect([...new Set(built)].toSorted()).toEqual(Object.keys(BUILT).toSorted());
  });

  test.each(Object.keys(BUILT))("%s", (file) => {
    expect((BUILT[file] ?? []).flatMap(isSlow)).toEqual([]);
  });

  test("the rules by which replies are read, as they are when they are used", () => {
    const written = new Set(patterns.map(({ source }) => source));
    const made = listRegexes(RULE_FAMILIES).filter(({ source }) => !written.has(source));

    expect(made.length).toBeGreaterThan(0);
    expect(made.flatMap(isSlow)).toEqual([]);
  });
});

describe("the look itself", () => {
  test.each([
    ["a repetition in a repetition", /^(?:a+)+$/],
    ["one of two ways for each letter", /^(?:a|a)*$/],
    ["an overlap in a repetition", /^(?:[\w.]+\.?)+@/],
    ["three repetitions side by side", /^\s*\s*\s*$/],
    ["two of them", /^\d+\d+x/],
    ["a beginning at every letter", /=+$/],
    ["a beginning that is found again and again", /<.*>/],
    ["a look back that goes on", /(?<=b\w*)c/],
  ])("finds %s", (_what, pattern) => {
    expect(isSlow(pattern)).not.toEqual([]);
  });

  test.each<[RegExp, string]>([
    [/^(\w+)\s(\w+)$/, "ann lee"],
    [/a{2,3}?b|c+/g, "aaab"],
    [/(?<!x)y(?=z)/i, "xy YZ"],
    [/\bfoo\b(?!bar)/, "a foo b"],
    [/^[^\s@]+@(?:[a-z0-9-]+\.)+[a-z]{2,}$/i, "Ann@mail.x.org"],
    [/(?:a|ab)(?:c|bcd)d*$/m, "abcd\nx"],
    [/\p{L}+[٠-٩]?/u, "é5"],
    [/a/y, "ba"],
  ])("matches as V8 does: %s", (pattern, text) => {
    const { count } = counter(pattern);
    const texts = Array.from({ length: text.length + 1 }, (_row, at) => text.slice(at));

    expect(texts.map((one) => count(one, 1e6).found)).toEqual(
      texts.map((one) => new RegExp(pattern.source, pattern.flags).test(one)),
    );
  });
});
