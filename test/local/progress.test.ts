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

const givenTerminal = () => {
  let [screen, ms] = ["", 1];
  const terminal = { isTTY: true, write: (text: string) => void (screen = text) };
  return {
    line: lineOn(terminal as unknown as WriteStream, () => ms),
    later: (passedMs: number) => void (ms += passedMs),
    screen: () => screen,
  };
};

test("while a job moves, its line tells how long it will take", () => {
  const { line, later, screen } = givenTerminal();

  line.count(0, 4);
  later(10_000);
  line.count(2, 4);

  expect(screen()).toContain("2 done  0/s  about 10 s left");
});

test("when only rows are left that a mail server put off, the line says so, and promises no seconds", () => {
  const { line, later, screen } = givenTerminal();
  line.count(2, 3);
  later(16_000);

  line.count(2, 3);
  const still = screen();
  later(400_000);
  line.count(3, 3);

  expect(still).toContain('2 done; servers that say "later" are asked again after 6 and 30 min');
  expect(screen()).toContain("3 done");
});
