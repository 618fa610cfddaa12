import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { gzipSync } from "node:zlib";
import { toCheckResult } from "@mailproof/api/schema/to-check-result";
import type { GetDomainReportsData, Job } from "@mailproof/client/types";
import type { CheckReport } from "@mailproof/core/deliverability/analyse-domain";
import { CAPS } from "@mailproof/core/deliverability/score";
import { createJobProgress } from "@mailproof/local/cli/job-progress";
import { toReportResponse } from "@mailproof/local/cli/report-sections";
import { showReport } from "@mailproof/local/cli/show-report";
import { showReports } from "@mailproof/local/cli/show-reports";
import { createStatusLines } from "@mailproof/local/cli/status-lines";
import {
  canErase,
  choosePaint,
  paintAnsi,
  paintPlain,
  quoteForShell,
} from "@mailproof/local/cli/terminal";
import { afterEach, expect, test, vi } from "vitest";
import { createZoneDns, type Zone } from "../app/zone.ts";
import { createReport } from "../core/deliverability/findings.ts";
import { createFolder, whenCommandedWith, whenStarted } from "../servers/running.ts";
import { createDmarcReport, createRecord } from "../things/made-reports.ts";
import { createReportMail } from "../things/reports.ts";

const IP = "192.0.2.1";
const BROKEN: Zone = {
  "example.com": { MX: ["10 mx.example.com"], TXT: ["v=spf1 include:gone.test ~all"] },
  "mx.example.com": { A: ["8.8.8.8"] },
  "_dmarc.example.com": { TXT: ["v=DMARC1; p=none"] },
  "2.0.0.127.bl.test": { A: ["127.0.0.2"] },
  "1.2.0.192.bl.test": { A: ["127.0.0.2"] },
};
const given = (names: Zone) => createReport(createZoneDns(names), { sendingIp: IP });

const whenShown = (report: CheckReport, { columns = 80, paint = paintPlain } = {}) =>
  showReport(toReportResponse(report), { columns, paint }, report);

test("the printed report starts with the grade and continues with recommendations and findings", async () => {
  const shown = whenShown(await given(BROKEN));

  const texts = [
    " F  46 of 100",
    "example.com, sending from 192.0.2.1",
    "What to fix first",
    " 1.  +",
    "Records to publish",
    "TXT at example.com, instead of:\n  - v=spf1 include:gone.test ~all\n  v=spf1 ip4:192.0.2.1 <senders in place of include:gone.test> ~all\n",
    "Mail hosts (MX)  100  fine",
    "10 mx.example.com  8.8.8.8",
    "SPF               25  faulty",
    "      v=spf1 include:gone.test ~all",
    "      up to 1 of 10 DNS look-ups",
    "      1 include:gone.test",
    "\n    ✗ gone.test does not exist",
    "DKIM               0  missing",
    "DMARC             50  could be better",
    "receivers are asked for: none",
    "Blocklists        80  listed",
    "    ✗ 192.0.2.1 is on bl.test",
    "Reverse DNS        0  missing",
    "To a spam filter",
    "Optional improvements",
  ];
  const positions = texts.map((text) => shown.indexOf(text));
  expect(texts.filter((text) => !shown.includes(text))).toEqual([]);
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
});

test("the printed report shows every issue with its lost points and every recommendation with its text", async () => {
  const report = await given(BROKEN);
  const reportText = whenShown(report, { columns: 1_000 }).replaceAll(/\n {6,}/g, " ");

  const { mx, spf, dkim, dmarc, reputation, reverseDns, hints } = report;
  const found = [mx, spf, dkim, dmarc, reputation, reverseDns].flatMap((of) => of?.issues ?? []);
  const issues = [...found, ...hints];
  expect(issues.length).toBeGreaterThan(8);
  for (const { message, costPoints } of issues)
    expect(reportText).toContain(costPoints > 0 ? `${message} (-${costPoints})` : message);
  for (const { text } of report.recommendations) expect(reportText).toContain(text);
});

test("the printed report shows the reason for a cap that lowered the score", async () => {
  const report = await given(BROKEN);
  const reasons = CAPS.map(({ id }) =>
    whenShown({ ...report, scored: { ...report.scored, cappedBy: id, uncapped: 99 } }),
  ).map((shown) => /99, but no more than \d+ while ([^.]*)\./.exec(shown)?.[1]);

  expect(new Set(reasons).size).toBe(CAPS.length);
  expect(reasons.filter((reason) => reason === undefined || reason.includes("_"))).toEqual([]);
});

test("the printed report lists a part that could not be looked up below the score, without points", async () => {
  const shown = whenShown(await given({ ...BROKEN, "_dmarc.example.com": "SERVFAIL" }));

  expect(shown).toContain("left out of the score: DMARC.");
  expect(shown).toMatch(/DMARC +– {2}not known/);
});

test("a service's report shows unknown parts as a local report does", async () => {
  const names: Zone = { ...BROKEN, "example.com": { MX: "TIMEOUT", TXT: "SERVFAIL" } };
  const report = await createReport(createZoneDns(names), {});
  const check = {
    id: "c",
    owner: "acc",
    domain: report.domain,
    sendingIp: null,
    score: report.scored.score,
    grade: report.scored.grade,
    confidence: "low" as const,
    checkedAt: "2026-11-21T00:00:00.000Z",
    expiresAt: 0,
  };
  const money = { credits_used: 10, cached: false };
  const answer = JSON.parse(JSON.stringify({ ...toCheckResult({ check, report }), ...money }));
  const unknown = (shown: string) => shown.split("\n").filter((line) => line.includes("not known"));

  const lines = unknown(showReport(answer, { columns: 80, paint: paintPlain }));

  expect(lines).toEqual(unknown(whenShown(report)));
  expect(lines).toEqual(
    expect.arrayContaining([expect.stringMatching(/^ {2}SPF +– {2}not known/)]),
  );
});

test("no line of the printed report exceeds the terminal's width, except lines to copy", async () => {
  const long = `v=spf1 ${"ip4:192.0.2.0/24 ".repeat(20)}include:${"a".repeat(60)}.${"b".repeat(60)}.test -all`;
  const report = await given({ "example.com": { MX: ["10 mx.example.com"], TXT: [long] } });

  const copied = report.recommendations
    .flatMap(({ proposal }) => proposal ?? [])
    .flatMap(({ record, replaces, file }) => [
      record.value,
      ...replaces.map(({ value }) => `- ${value}`),
      ...(file ? [...file.content.split("\r\n"), `File at ${file.url}:`] : []),
    ]);
  for (const columns of [40, 80]) {
    const lines = whenShown(report, { columns }).split("\n");
    const others = lines.filter((line) => !copied.includes(line.slice(2)));
    expect(Math.max(...others.map(({ length }) => length))).toBeLessThanOrEqual(columns);
    expect(lines).toContain(`  ${copied.find((text) => text.startsWith("v=spf1"))}`);
  }
});

test("the printed report shows replaced includes with their cost", async () => {
  const report = await given(BROKEN);
  const flattened_spf = {
    record: { name: "example.com", type: "TXT" as const, value: "v=spf1 ip4:9.9.9.9 ~all" },
    includes: [{ include: "one.test", address_blocks: 3 }],
    lookups: 7,
    bytes: 23,
  };
  const shown = showReport(
    { ...toReportResponse(report), flattened_spf },
    { columns: 100, paint: paintPlain },
  );

  expect(shown).toContain("Address blocks instead of one.test (3): 7 DNS look-ups, 23 bytes.");
  expect(shown).toContain("\n  v=spf1 ip4:9.9.9.9 ~all\n");
});

test("control characters of a record do not reach the terminal", async () => {
  const shown = whenShown(
    await given({
      "example.com": { A: ["8.8.8.8"], TXT: ["v=spf1 \u001b[2J\u009b1m\u202e -all"] },
    }),
  );

  expect(shown).toContain("v=spf1 �[2J�1m� -all");
  expect(["\u001b", "\u009b", "\u202e"].filter((sign) => shown.includes(sign))).toEqual([]);
});

test("the printed report contains the same text with colours", async () => {
  const report = await given(BROKEN);
  const colourful = whenShown(report, { paint: paintAnsi });

  expect(stripVTControlCharacters(colourful)).toBe(whenShown(report));
});

test("the printed report without recommendations states that nothing needs fixing", async () => {
  const report = await given(BROKEN);

  expect(whenShown({ ...report, recommendations: [] })).toContain("Nothing needs fixing.");
});

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

/** Yesterday, so that the report is among those of the last days. */
const begin = Math.floor(Date.now() / 86_400_000) * 86_400 - 86_400;
const records = [
  createRecord({ count: 9 }),
  createRecord({ ip: "198.51.100.7", dkim: "fail", spf: "fail", auth: "" }),
];
const REPORT = createDmarcReport({ begin, end: begin + 86_399, records });

const whenServed = async () => {
  const { ready } = await whenStarted(createFolder());
  const folder = createFolder();
  const write = (name: string, content: string | Uint8Array): string => {
    const file = join(folder, name);
    writeFileSync(file, content);
    return file;
  };
  const env = {
    MAILPROOF_DIR: folder,
    MAILPROOF_API: ready.base_url,
    MAILPROOF_KEY: ready.test_key,
  };
  return { env, write };
};

test("mailproof report uploads each report with its outcome, and check --reports prints their sums", async () => {
  const { env, write } = await whenServed();
  const files = [
    write("a.xml", REPORT),
    write("a.xml.gz", gzipSync(REPORT)),
    write("broken.xml", REPORT.replace("<count>9<", "<count>nine<")),
    write("noted.xml", REPORT.replace("google.com", "A&B").replace("1234567890", "2")),
    join(createFolder(), "absent.xml"),
  ];

  const { code, out, err } = await whenCommandedWith(env, "report", ...files);

  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { file: files[0], type: "dmarc", messages: 10, duplicate: false },
    { file: files[1], duplicate: true },
    { file: files[3], notes: [{ field: "feedback.report_metadata.org_name" }] },
  ]);
  expect(err).toContain(`${files[2]}: feedback.record[1].row.count: must be a whole number`);
  expect(err).toContain(`${files[4]}: cannot be read (ENOENT).`);
  expect(code).toBe(3);

  const checked = await whenCommandedWith(env, "check", "example.com", "--reports");
  expect(checked.code).toBe(0);
  const reports = JSON.parse(checked.out) as GetDomainReportsData;
  expect(reports.dmarc).toMatchObject({ reports: 2, messages: 20, aligned_share: 0.9 });

  const shown = stripVTControlCharacters(showReports(reports, { columns: 80, paint: paintAnsi }));
  expect(shown).toContain("2 DMARC reports, 0 TLS reports");
  expect(shown).toContain("90% of 20 messages aligned (SPF 18, DKIM 18)");
  expect(shown).toContain("198.51.100.7  2 messages, 0% aligned");
  expect(shown).toContain("add ip4:198.51.100.7");
  expect(shown).toMatch(/Counted, with a fault: the report of A&B, .*report_metadata\.org_name/s);

  const day = { day: "2026-11-21", mails: 2, field: "file", message: "is empty" };
  const unread = showReports({ ...reports, unreadable: [day] }, { columns: 80, paint: paintAnsi });
  expect(unread).toContain("2026-11-21: 2 mails with a report that could not be read.");
});

test("mailproof report uploads each report of the mails in a file", async () => {
  const { env, write } = await whenServed();
  const mails = [[2], [3, 4], []].map((counts) =>
    createReportMail(
      counts.map((count) => ({
        content: createDmarcReport({
          begin,
          end: begin + 86_399,
          records: [createRecord({ count })],
        }).replace("1234567890", `${count}`),
        type: "text/xml",
      })),
    ),
  );
  const mbox = mails.map((mail) => `From a@b.example Sun Nov 29 2026\r\n${mail}\r\n`).join("");
  const files = [write("a.mbox", mbox), write("none.eml", mails[2] ?? "")];

  const { code, out, err } = await whenCommandedWith(env, "report", ...files);

  const lines = out.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).messages)).toEqual([2, 3, 4]);
  expect([code, err]).toEqual([2, `${files[1]}: is mail without a DMARC or TLS report.\n`]);
});
