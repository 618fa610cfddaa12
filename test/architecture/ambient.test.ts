import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { getCode } from "./code-of.ts";

/** What a world gives, and what nobody in core or api may take for himself. */
const AMBIENT: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    "a clock",
    /\bDate\s*(?:\.\s*now|\[)|\bnew\s+Date\b(?!\s*\(\s*[^)\s])|=\s*Date\b(?!\s*\.)|\bperformance\b|\bhrtime\b|\bTemporal\b|\bDateTimeFormat\b/,
  ],
  [
    "chance",
    /\bMath\s*(?:\.\s*random|\[)|=\s*Math\b(?!\s*\.)|\brandom(?:UUID|Int)\b|\bgetRandomValues\b/,
  ],
  ["a timer", /\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\bAbortSignal\s*\./],
  ["the environment", /(?<![.\w"])process\s*[.[]|\bglobalThis\b|\beval\s*\(|\bFunction\s*\(/],
  ["the network", /(?<![.\w])fetch\b(?!\s*:)|\bWebSocket\b|\bEventSource\b|\bXMLHttpRequest\b/],
  ["the terminal", /\bconsole\b/],
];

/** Only by name, and never what makes chance: a namespace would hide it. */
const CRYPTO =
  /import\s+(?:\*|\w+\s*,|\w+\s+from)[^;]*"node:crypto"|import\s*\{[^}]*\b(?:random\w+|webcrypto|getRandomValues)\b[^}]*\}\s*from\s*"node:crypto"/;

const sources = globSync("packages/{core,api,docs-site}/src/**/*.ts");

/** Code as text, for a browser and for other people's machines: nothing in it is run by us. */
const FOR_OTHERS = ["programs", "script", "snippets"].map(
  (name) => `packages/docs-site/src/${name}.ts`,
);

test.each(AMBIENT)("core, api and docs-site ask their world for %s", (what, pattern) => {
  const strays = sources
    .filter((file) => !FOR_OTHERS.includes(file))
    .filter((file) => pattern.test(getCode(file)));

  expect(strays, `these take ${what} for themselves`).toEqual([]);
});

test("core and api make no chance of node:crypto", () => {
  expect(sources.filter((file) => CRYPTO.test(readFileSync(file, "utf8")))).toEqual([]);
});

test("every source is one that the rules read", () => {
  const others = globSync("packages/*/src/**/*.{mts,cts,js,mjs,cjs,jsx,tsx}", {
    // A browser's own code, which has its own clock and network.
    exclude: ["packages/dashboard/**"],
  });

  expect(others).toEqual([]);
  expect(sources.length).toBeGreaterThan(20);
});
