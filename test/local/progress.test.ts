import { WriteStream } from "node:tty";
import type { Job } from "@mailproof/client/types";
import { createJobProgress } from "@mailproof/local/cli/job-progress";
import { createStatusLines } from "@mailproof/local/cli/status-lines";
import { canErase, choosePaint, quoteForShell } from "@mailproof/local/cli/terminal";
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => vi.unstubAllEnvs());

type RunningJob = Pick<Job, "progress" | "deferred">;

const START = new Date("2026-11-22T14:00:00Z");

const givenJob = (now = START) => {
  let at = now;
  const linesOf = createJobProgress(() => at);
  return {
    linesOf: (job: RunningJob, columns = 80) => linesOf(job, columns),
    textOf: (job: RunningJob, columns = 80) => linesOf(job, columns).flat().join("  "),
    later: (seconds: number) => void (at = new Date(at.getTime() + seconds * 1_000)),
  };
};

const withDone = (processed: number, total: number, more: Partial<RunningJob> = {}): RunningJob => {
  const verdicts = { valid: processed, invalid: 0, risky: 0, unknown: 0 };
  const progress: Job["progress"] = { total, processed, ...verdicts };
  return { progress, ...more };
};

const DEFERRED = {
  count: 169,
  by_reason: { greylisted: 20, dns_timeout: 149 },
  next_attempt_at: "2026-11-22T14:35:00Z",
};

const clock = (iso: string) =>
  new Date(iso).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

test("the progress lines of a running job show percent, total, rate, time left and verdicts", () => {
  const { linesOf, later } = givenJob();
  linesOf(withDone(0, 3_000));
  later(10);

  const progress = {
    total: 3_000,
    processed: 1_350,
    valid: 980,
    invalid: 210,
    risky: 100,
    unknown: 60,
  };
  const lines = linesOf({ progress });

  expect(lines).toEqual([
    ["███████████░░░░░░░░░░░░░", "45%", "1,350 of 3,000", "135/s", "about 13 s left"],
    ["980 valid, 210 invalid, 100 risky, 60 unknown"],
  ]);
});

test("the progress lines count deferred rows by reason with the next attempt's clock time, without a time left", () => {
  const { linesOf, later } = givenJob();
  linesOf(withDone(0, 3_000));
  later(10);

  const lines = linesOf(withDone(1_500, 3_000, { deferred: DEFERRED }));

  expect(lines[0]).toEqual(["████████████░░░░░░░░░░░░", "50%", "1,500 of 3,000", "150/s"]);
  expect(lines[2]).toEqual([
    `169 deferred, next attempt at ${clock(DEFERRED.next_attempt_at)}:`,
    "149 dns timeout, 20 greylisted",
  ]);
});

test("the progress lines show no rate when every remaining row is deferred", () => {
  const { linesOf, later } = givenJob();
  linesOf(withDone(0, 3_000));
  later(10);

  const lines = linesOf(withDone(2_831, 3_000, { deferred: DEFERRED }));

  expect(lines[0]).toEqual(["███████████████████████░", "94%", "2,831 of 3,000"]);
});

test("the progress lines state that the next attempt is due instead of a past time", () => {
  const { textOf } = givenJob(new Date("2026-11-22T14:35:01Z"));

  expect(textOf(withDone(1, 3_000, { deferred: DEFERRED }))).toContain(
    "169 deferred, next attempt now",
  );
});

test("the progress lines of a job without progress show no waiting mail server and no remaining time", () => {
  const { textOf, later } = givenJob();
  textOf(withDone(2, 3));
  later(3_600);

  const still = textOf(withDone(2, 3));

  expect(still).not.toMatch(/deferred|again|later|left/);
  expect(still).toContain("66%  2 of 3");
});

test("the progress lines compute the rate of the last half minute", () => {
  const { textOf, later } = givenJob();
  textOf(withDone(0, 10_000));
  later(10);
  textOf(withDone(5_000, 10_000));
  later(60);
  textOf(withDone(5_010, 10_000));
  later(10);

  expect(textOf(withDone(5_020, 10_000))).toContain("1.0/s  about 83 min left");
});

test.each([
  [0, 3, "0%"],
  [2_999, 3_000, "99%"],
  [3, 3, "100%"],
  [0, 0, "100%"],
])("the progress lines show %i of %i as %s, and 100% only for all", (processed, total, percent) => {
  expect(givenJob().textOf(withDone(processed, total))).toContain(`  ${percent}  `);
});

/** A terminal as it looks: what is written to it moves its cursor and erases its lines. */
const givenTerminal = (columns: number | undefined, isTTY = true) => {
  const written: string[] = [];
  let rows = [""];
  const write = (text: string) => {
    written.push(text);
    // Only these: erase a line, up one line, the start of a line, the next line.
    for (const piece of text.replaceAll("\u001b", "␛").match(/␛\[2K|␛\[1A|\r|\n|[^␛\r\n]+/g) ??
      []) {
      if (piece === "␛[2K") rows[rows.length - 1] = "";
      else if (piece === "␛[1A") rows = rows.slice(0, -1);
      else if (piece === "\n") rows.push("");
      else if (piece !== "\r") rows[rows.length - 1] += piece;
    }
  };
  const screen = { isTTY, columns, write } as unknown as WriteStream;
  return { screen, written, rows: () => rows };
};

test.each([
  [120, 3],
  [80, 3],
  [undefined, 3],
  [40, 5],
  [20, 8],
])(
  "the progress lines show every fact on %s columns without a wrap and replace the old lines",
  (columns, height) => {
    vi.stubEnv("TERM", "xterm-256color");
    const { screen, rows } = givenTerminal(columns);
    const { linesOf } = givenJob();
    const lines = createStatusLines(screen);
    const job = withDone(1_000, 3_000, { deferred: DEFERRED });

    lines.show([["Uploading …"]]);
    lines.show(linesOf(job, columns));
    lines.show(linesOf(job, columns));

    expect(rows().length).toBeLessThanOrEqual(height);
    expect(rows().filter((row) => row.length >= (columns ?? 80))).toEqual([]);
    expect(rows().join(" ")).toContain("1,000 of 3,000");
    expect(rows().join(" ")).toContain("169 deferred");
    lines.end();
    expect(rows()).toEqual([""]);
  },
);

test("a dumb terminal receives a plain line every ten seconds at most, and a pipe none", () => {
  vi.stubEnv("TERM", "dumb");
  const { screen, written } = givenTerminal(80);
  let ms = 0;
  const lines = createStatusLines(screen, () => ms);

  lines.show([["1%"], ["1 valid"]]);
  ms += 9_999;
  lines.show([["2%"]]);
  ms += 1;
  lines.show([["3%"]]);
  lines.end();
  const piped = givenTerminal(80, false);
  createStatusLines(piped.screen).show([["1%"]]);

  expect(written).toEqual(["1%  1 valid\n", "3%\n"]);
  expect(piped.written).toEqual([]);
});

test.each([
  [{ TERM: "xterm-256color" }, true, true],
  [{ TERM: "xterm-256color", NO_COLOR: "1" }, false, true],
  [{ TERM: "dumb" }, false, false],
])("a terminal with %j receives colours: %s, and erased lines: %s", (env, colours, erases) => {
  for (const name of ["NO_COLOR", "FORCE_COLOR", "NODE_DISABLE_COLORS", "COLORTERM", "CI", "TERM"])
    vi.stubEnv(name, (env as Record<string, string>)[name]);
  const screen = Object.create(WriteStream.prototype, { isTTY: { value: true } }) as WriteStream;

  expect(choosePaint(screen)("a", "red")).toBe(colours ? "\u001b[31ma\u001b[0m" : "a");
  expect(canErase(screen)).toBe(erases);
});

test.each([
  ["results.csv", "results.csv"],
  ["my results.csv", "'my results.csv'"],
  ["it's.csv", `'it'\\''s.csv'`],
])("the command line quotes %s as %s", (word, as) => {
  expect(quoteForShell(word)).toBe(as);
});
