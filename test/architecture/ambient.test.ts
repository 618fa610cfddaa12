import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** What a world gives, and what nobody in core or api may take for himself. */
const AMBIENT: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    "a clock",
    /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bperformance\b|\bhrtime\b|\bTemporal\.Now\b/,
  ],
  [
    "chance",
    /\bMath\.random\b|\bimport\b[^;]*\brandom(?:UUID|Bytes|Int)\b[^;]*\bfrom\b|\bcrypto\.(?:get)?[rR]andom/,
  ],
  ["a timer", /\bset(?:Timeout|Interval|Immediate)\b|\bnode:timers\b|\bqueueMicrotask\b/],
  ["the environment", /\bprocess\b|\bglobalThis\b/],
  ["the network", /\bfetch\(|\bnode:(?:net|tls|http|https|http2|dns|dgram)\b|\bWebSocket\b/],
  ["files", /\bnode:(?:fs|os|child_process|worker_threads|sqlite)\b/],
  ["the terminal", /\bconsole\b/],
];

const withoutComments = (source: string) =>
  source.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");

const sources = globSync("packages/{core,api}/src/**/*.ts");

test.each(AMBIENT)("core and api ask their world for %s", (what, pattern) => {
  const strays = sources.filter((file) =>
    pattern.test(withoutComments(readFileSync(file, "utf8"))),
  );

  expect(strays, `these take ${what} for themselves`).toEqual([]);
});

test("the rule reads the sources", () => {
  expect(sources.length).toBeGreaterThan(20);
});
