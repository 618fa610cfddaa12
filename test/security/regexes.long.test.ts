import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { type AST, RegExpParser } from "@eslint-community/regexpp";
import { RULE_FAMILIES } from "@mailproof/mail/smtp/reply-rules/rules";
import { expect, test } from "vitest";
import { parseAst } from "vitest/node";

// A matcher that backtracks as V8's does, and counts what it looks at. It gives the same number on every machine and
// under any load, so how a pattern grows can be measured without a clock.

class TooManySteps extends Error {}

type Next = (at: number) => boolean;
type Matcher = (at: number, next: Next) => boolean;

type Run = { readonly text: string; steps: number; readonly most: number };

const look = (run: Run): void => {
  if (++run.steps > run.most) throw new TooManySteps();
};

type OneChar = AST.Character | AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass;

const isOneChar = (node: AST.Element): node is OneChar =>
  node.type === "Character" ||
  node.type === "CharacterSet" ||
  node.type === "CharacterClass" ||
  node.type === "ExpressionCharacterClass";

/** By V8 itself: what a class holds is not counted, and asked for once per letter. */
const charTest = (node: AST.Node, flags: string): ((char: string) => boolean) => {
  const own = new RegExp(`^(?:${node.raw})$`, flags.replaceAll(/[gy]/g, ""));
  const cache = new Map<string, boolean>();
  return (char) => {
    const found = cache.get(char) ?? own.test(char);
    cache.set(char, found);
    return found;
  };
};

const isWord = (char: string | undefined): boolean => char !== undefined && /\w/.test(char);

type Making = { readonly run: () => Run; readonly flags: string };

const charMatcher = (node: OneChar, { run, flags }: Making, back: boolean): Matcher => {
  const fits = charTest(node, flags);
  return (at, next) => {
    const now = run();
    look(now);
    const char = now.text[back ? at - 1 : at];
    return char !== undefined && fits(char) && next(back ? at - 1 : at + 1);
  };
};

const sequence = (nodes: readonly AST.Element[], making: Making, back: boolean): Matcher => {
  const parts = nodes.map((node) => getMatcher(node, making, back));
  const ordered = back ? parts.toReversed() : parts;
  return ordered.reduceRight<Matcher>(
    (previous, part) => (at, next) => part(at, (then) => previous(then, next)),
    (at, next) => next(at),
  );
};

const matchAny = (
  alternatives: readonly AST.Alternative[],
  making: Making,
  back: boolean,
): Matcher => {
  const all = alternatives.map(({ elements }) => sequence(elements, making, back));
  return (at, next) => all.some((one) => one(at, next));
};

const quantified = (node: AST.Quantifier, making: Making, back: boolean): Matcher => {
  const { min, max, greedy, element } = node;
  if (isOneChar(element)) return runOf(node, element, making, back);
  const part = getMatcher(element, making, back);
  const more =
    (count: number): Matcher =>
    (at, next) => {
      look(making.run());
      const again = () =>
        count < max &&
        part(at, (then) => (then !== at || count < min) && more(count + 1)(then, next));
      const leave = () => count >= min && next(at);
      return greedy ? again() || leave() : leave() || again();
    };
  return more(0);
};

/** Of single letters there may be thousands: they are counted in a loop, which no stack is too small for. */
const runOf = (
  { min, max, greedy }: AST.Quantifier,
  element: OneChar,
  { run, flags }: Making,
  back: boolean,
): Matcher => {
  const fits = charTest(element, flags);
  const step = back ? -1 : 1;
  return (at, next) => {
    const now = run();
    let most = 0;
    const fitsNext = () => {
      look(now);
      const char = now.text[back ? at - most - 1 : at + most];
      return char !== undefined && fits(char);
    };
    if (!greedy) {
      for (; most < min; most++) if (!fitsNext()) return false;
      for (;;) {
        if (next(at + step * most)) return true;
        if (most >= max || !fitsNext()) return false;
        most++;
      }
    }
    while (most < max && fitsNext()) most++;
    for (let count = most; count >= min; count--) {
      look(now);
      if (next(at + step * count)) return true;
    }
    return false;
  };
};

const assertion = (node: AST.Assertion, making: Making): Matcher => {
  const { run, flags } = making;
  if (node.kind === "lookahead" || node.kind === "lookbehind") {
    const inner = matchAny(node.alternatives, making, node.kind === "lookbehind");
    return (at, next) => inner(at, () => true) !== node.negate && next(at);
  }
  const holds = (text: string, at: number): boolean => {
    if (node.kind === "word") return (isWord(text[at - 1]) !== isWord(text[at])) !== node.negate;
    const [edge, beside] = node.kind === "start" ? [0, text[at - 1]] : [text.length, text[at]];
    return at === edge || (flags.includes("m") && beside === "\n");
  };
  return (at, next) => {
    look(run());
    return holds(run().text, at) && next(at);
  };
};

const getMatcher = (node: AST.Element, making: Making, back: boolean): Matcher => {
  if (isOneChar(node)) return charMatcher(node, making, back);
  if (node.type === "Group" || node.type === "CapturingGroup")
    return matchAny(node.alternatives, making, back);
  if (node.type === "Quantifier") return quantified(node, making, back);
  if (node.type === "Assertion") return assertion(node, making);
  throw new Error(`a pattern with ${node.type} cannot be counted yet`);
};

type Counted = { readonly steps: number; readonly found: boolean };

/** What a pattern looks at in a text. Throws beyond `most`. */
const counter = ({ source, flags }: Pick<RegExp, "source" | "flags">) => {
  const ast = new RegExpParser().parsePattern(source, undefined, undefined, {
    unicode: flags.includes("u"),
    unicodeSets: flags.includes("v"),
  });
  let run: Run = { text: "", steps: 0, most: 0 };
  const match = matchAny(ast.alternatives, { run: () => run, flags }, false);
  const count = (text: string, most: number): Counted => {
    run = { text, steps: 0, most };
    const last = flags.includes("y") ? 0 : text.length;
    for (let at = 0; at <= last; at++)
      if (match(at, () => true)) return { steps: run.steps, found: true };
    return { steps: run.steps, found: false };
  };
  return { ast, count };
};

// Texts that are made to be hard for a pattern: something it likes, repeatedly, and an end that it does not.

const USUAL = [
  "a",
  "0",
  " ",
  "-",
  ".",
  "@",
  ":",
  "/",
  "_",
  "=",
  "<",
  '"',
  "\\",
  "\n",
  "é",
  "A",
  "!",
];

/** A text that the node takes, as short as may be. */
const getExample = (
  node: AST.Element | AST.Alternative,
  flags: string,
  letters: string[],
): string => {
  if (node.type === "Alternative")
    return node.elements.map((one) => getExample(one, flags, letters)).join("");
  if (node.type === "Group" || node.type === "CapturingGroup")
    return node.alternatives[0] ? getExample(node.alternatives[0], flags, letters) : "";
  if (node.type === "Quantifier")
    return getExample(node.element, flags, letters).repeat(
      Math.max(node.min, node.max > 3 ? 1 : 0),
    );
  if (node.type === "Assertion" || node.type === "Backreference") return "";
  return fitting(node, flags, letters)[0] ?? "a";
};

const fitting = (node: AST.Node, flags: string, letters: readonly string[]): string[] => {
  const fits = charTest(node, flags);
  return letters.filter(fits);
};

const listLetters = (source: string): string[] => [
  ...new Set([...source.replaceAll(/\\[a-zA-Z]/g, "").matchAll(/[^\\()[\]{}|*+?^$]/g)].join("")),
];

const MANY = 5;
const LETTERS_TRIED = 4;

type PatternPosition = {
  readonly prefix: string;
  readonly pumps: readonly string[];
  readonly ends: readonly string[];
};

/** Nothing, what hardly any pattern takes, and a letter. */
const ENDS = ["", "\u0000", "a"];
const BAD_END = ENDS.slice(1, 2);

/** Each position at which a pattern may loop, the text that leads there, and the text that keeps it there. */
const listPositions = (pattern: AST.Pattern, flags: string): PatternPosition[] => {
  const letters = [...new Set([...listLetters(pattern.raw), ...USUAL])];
  const positions: PatternPosition[] = [];
  const example = (node: AST.Element | AST.Alternative) => getExample(node, flags, letters);

  const visit = (node: AST.Element, prefix: string): void => {
    if (node.type === "Quantifier") {
      if (node.max >= MANY) positions.push({ prefix, pumps: listPumps(node.element), ends: ENDS });
      visit(node.element, prefix);
    } else if ("alternatives" in node) for (const one of node.alternatives) walk(one, prefix);
  };
  const walk = ({ elements }: AST.Alternative, prefix: string): void => {
    let before = prefix;
    for (const element of elements) {
      visit(element, before);
      before += example(element);
      // All that has been read so far, repeated: a match may begin at each of them.
      if (before !== "") positions.push({ prefix: "", pumps: [before], ends: BAD_END });
    }
  };
  const listPumps = (element: AST.Element): string[] => {
    if ("alternatives" in element) return element.alternatives.map(example).filter(Boolean);
    return fitting(element, flags, letters).slice(0, LETTERS_TRIED);
  };
  for (const one of pattern.alternatives) walk(one, "");
  return positions;
};

type Attack = (length: number) => string;

/** Without two that are the same. */
const createAttacks = (pattern: AST.Pattern, flags: string): Attack[] => {
  const made = new Map<string, Attack>();
  for (const { prefix, pumps, ends } of listPositions(pattern, flags))
    for (const pump of pumps)
      for (const end of ends)
        made.set(JSON.stringify([prefix, pump, end]), (length) => {
          const times = Math.ceil(Math.max(0, length - prefix.length - end.length) / pump.length);
          return prefix + pump.repeat(times) + end;
        });
  return [...made.values()];
};

type Found = { readonly file: string; readonly source: string; readonly flags: string };

type Walked = { readonly patterns: Found[]; readonly built: string[] };

type Node = {
  readonly type?: string;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly name?: string };
};

/** Every pattern that is written in a source, and which sources build one from parts. */
const listPatterns = (glob: string): Walked => {
  const walked: Walked = { patterns: [], built: [] };
  for (const file of globSync(glob).toSorted()) {
    const code = readFileSync(file, "utf8");
    walk(parseAst(stripTypeScriptTypes(code)), file, walked);
  }
  return walked;
};

const walk = (node: unknown, file: string, into: Walked): void => {
  if (Array.isArray(node)) for (const one of node) walk(one, file, into);
  else if (typeof node === "object" && node !== null) {
    const { type, regex, callee } = node as Node;
    if (type === "Literal" && regex)
      into.patterns.push({ file, source: regex.pattern, flags: regex.flags });
    if ((type === "NewExpression" || type === "CallExpression") && callee?.name === "RegExp")
      into.built.push(file);
    for (const part of Object.values(node)) walk(part, file, into);
  }
};

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

test("the pattern search finds more than 300 patterns", () => {
  expect(patterns.length).toBeGreaterThan(300);
});

test.each(files)("no pattern in %s is slow", (file) => {
  expect(patterns.filter((one) => one.file === file).flatMap(isSlow)).toEqual([]);
});

/** Patterns that are put together from parts, and where: an example of each that no value shows. */
const BUILT: Readonly<Record<string, readonly RegExp[]>> = {
  "packages/core/src/accounts/key-format.ts": [/^mp_(live|test)_[0-9A-Za-z]{28}$/],
  // Of each address that is erased.
  "packages/core/src/accounts/subject.ts": [
    /(?<![\p{L}\p{N}._%+-])ann@x\.com(?![\p{L}\p{N}-]|\.[\p{L}\p{N}])/u,
  ],
  // Of the recipient's local part.
  "packages/mail/src/smtp/classify.ts": [/(?<![\p{L}\p{N}])ada\.lovelace(?![\p{L}\p{N}])/giu],
  "packages/mail/src/smtp/reply-reader.ts": [
    /(?<![\w./])5\.[0-7]\.\d{1,3}(?!\w|\.\d)/,
    /(?<!\S|: )550[- ]5\.1\.1(?!\S)\s*/g,
  ],
  // Those are looked for in the values, below.
  "packages/mail/src/smtp/reply-rules/mailbox.ts": [],
  "packages/mail/src/smtp/reply-rules/rules.ts": [],
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

test("the list of built patterns contains every file that builds them", () => {
  expect([...new Set(built)].toSorted()).toEqual(Object.keys(BUILT).toSorted());
});

test.each(Object.keys(BUILT))("no pattern built in %s is slow", (file) => {
  expect((BUILT[file] ?? []).flatMap(isSlow)).toEqual([]);
});

test("no pattern of the reply rules is slow in its compiled form", () => {
  const written = new Set(patterns.map(({ source }) => source));
  const made = listRegexes(RULE_FAMILIES).filter(({ source }) => !written.has(source));

  expect(made.length).toBeGreaterThan(0);
  expect(made.flatMap(isSlow)).toEqual([]);
});

test.each([
  ["a repetition in a repetition", /^(?:a+)+$/],
  ["two equal alternatives for each letter", /^(?:a|a)*$/],
  ["an overlap in a repetition", /^(?:[\w.]+\.?)+@/],
  ["three repetitions side by side", /^\s*\s*\s*$/],
  ["two repetitions side by side", /^\d+\d+x/],
  ["a start at every letter", /=+$/],
  ["a start that is found repeatedly", /<.*>/],
  ["a look-behind with a repetition", /(?<=b\w*)c/],
])("the pattern check finds %s", (_what, pattern) => {
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
])("the pattern check matches as V8 does: %s", (pattern, text) => {
  const { count } = counter(pattern);
  const texts = Array.from({ length: text.length + 1 }, (_row, at) => text.slice(at));

  expect(texts.map((one) => count(one, 1e6).found)).toEqual(
    texts.map((one) => new RegExp(pattern.source, pattern.flags).test(one)),
  );
});
