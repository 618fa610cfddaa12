import type { WriteStream } from "node:tty";
import { lineOn } from "@mailproof/local/progress";
import { typed } from "@mailproof/local/terminal";
import { expect, test } from "vitest";

const written = (columns: number | undefined) => {
  const lines: string[] = [];
  const screen = { isTTY: true, columns, write: (text: string) => lines.push(text) };
  return { screen: screen as unknown as WriteStream, lines };
};

test.each([
  [120, /^█{12}░{12} 5,000 done {2}\S+\/s {2}about/],
  [undefined, /^█{12}░{12} 5,000 done {2}/],
  [50, /^█+░+ 5,000 done {2}/],
  [20, /^5,000 done {2}/],
])("how far it is fits on a screen of %s columns", (columns, says) => {
  const { screen, lines } = written(columns);
  const line = lineOn(screen);

  line.say(`Sending ${"x".repeat(200)} …`);
  line.count(5_000, 10_000);

  const seen = lines.map((text) => text.replace("\r\u001b[2K", ""));
  expect(seen.filter((text) => text.length >= (columns ?? 80))).toEqual([]);
  expect(seen[1]).toMatch(says);
});

test.each([
  ["results.csv", "results.csv"],
  ["my results.csv", "'my results.csv'"],
  ["it's.csv", `'it'\\''s.csv'`],
])("%s is typed as %s", (word, as) => {
  expect(typed(word)).toBe(as);
});
