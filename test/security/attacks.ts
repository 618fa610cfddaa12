import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import type { AST } from "@eslint-community/regexpp";
import { parseAst } from "vitest/node";
import { charTest } from "./steps.ts";

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

export type Attack = (length: number) => string;

/** Without two that are the same. */
export const createAttacks = (pattern: AST.Pattern, flags: string): Attack[] => {
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

export type Found = { readonly file: string; readonly source: string; readonly flags: string };

type Walked = { readonly patterns: Found[]; readonly built: string[] };

type Node = {
  readonly type?: string;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly name?: string };
};

/** Every pattern that is written in a source, and which sources build one from parts. */
export const listPatterns = (glob: string): Walked => {
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
