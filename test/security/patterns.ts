import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { parseAst } from "vitest/node";

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
