import type { WriteStream } from "node:tty";
import { lineOn } from "@mailproof/local/progress";
import { expect, test } from "vitest";

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
