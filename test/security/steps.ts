import { type AST, RegExpParser } from "@eslint-community/regexpp";

// A matcher that backtracks as V8's does, and counts what it looks at. It gives the same number on every machine and
// under any load, so how a pattern grows can be measured without a clock.

export class TooManySteps extends Error {}

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
export const charTest = (node: AST.Node, flags: string): ((char: string) => boolean) => {
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

export type Counted = { readonly steps: number; readonly found: boolean };

/** What a pattern looks at in a text. Throws beyond `most`. */
export const counter = ({ source, flags }: Pick<RegExp, "source" | "flags">) => {
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
