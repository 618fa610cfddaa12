import { globSync, readFileSync } from "node:fs";
import { loadDashboard } from "@mailproof/local/server/dashboard-build";
import { expect, test } from "vitest";

// A text, a comment, a template up to its first ${, or a pattern where one may begin. Their contents are not code.
const NOT_CODE =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<=[=(,:[!&|?{};\n]\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;

/** A source without its texts and comments: "Date.now" in a sentence is not a clock. */
const getCode = (file: string): string =>
  readFileSync(file, "utf8").replaceAll(NOT_CODE, (found) => (found.startsWith("/") ? " " : '""'));

/** What a world brings, so that no code in core or api may get it elsewhere. */
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

/** Imports by name, and none of a random function: a namespace import would hide it. */
const CRYPTO =
  /import\s+(?:\*|\w+\s*,|\w+\s+from)[^;]*"node:crypto"|import\s*\{[^}]*\b(?:random\w+|webcrypto|getRandomValues)\b[^}]*\}\s*from\s*"node:crypto"/;

const sources = globSync("packages/{core,api,docs-site}/src/**/*.ts");

/** Code as text, for a browser and for readers' machines: this process runs none of it. */
const FOR_OTHERS = ["clients/programs", "form-programs", "programs", "script", "snippets"].map(
  (name) => `packages/docs-site/src/${name}.ts`,
);

test.each(AMBIENT)("core, api and docs-site take %s from their world", (what, pattern) => {
  const strays = sources
    .filter((file) => !FOR_OTHERS.includes(file))
    .filter((file) => pattern.test(getCode(file)));

  expect(strays, `these get ${what} past their world`).toEqual([]);
});

test("core and api import no source of randomness from node:crypto", () => {
  expect(sources.filter((file) => CRYPTO.test(readFileSync(file, "utf8")))).toEqual([]);
});

test("the rules cover every source file", () => {
  const others = globSync("packages/*/src/**/*.{mts,cts,js,mjs,cjs,jsx,tsx}", {
    // A browser's own code, which has its own clock and network.
    exclude: ["packages/dashboard/**"],
  });

  expect(others).toEqual([]);
  expect(sources.length).toBeGreaterThan(20);
});

/** A name that only Node has, as a bundler leaves it; `process` is in programs that the dashboard prints. */
const NODE_GLOBAL = /(?<![\w$.'"`])(?:Buffer|__dirname)\.\w+/g;

test("no script of the dashboard uses a global that only Node has", async () => {
  const files = Object.entries(await loadDashboard(AbortSignal.timeout(300_000)));
  const scripts = files.filter(([name]) => name.endsWith(".js"));

  const found = scripts.flatMap(([name, { text }]) =>
    [...text.matchAll(NODE_GLOBAL)].map(([used]) => `${name}: ${used}`),
  );

  expect(scripts.length).toBeGreaterThan(20);
  expect(found).toEqual([]);
});
