import { stripVTControlCharacters } from "node:util";
import { toCheckResult } from "@mailproof/api/schema/to-check-result";
import type { CheckReport } from "@mailproof/core/deliverability/analyse-domain";
import { CAPS } from "@mailproof/core/deliverability/score";
import { toReportResponse } from "@mailproof/local/cli/report-sections";
import { showReport } from "@mailproof/local/cli/show-report";
import { paintAnsi, paintPlain } from "@mailproof/local/cli/terminal";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../app/zone.ts";
import { createReport } from "../core/deliverability/findings.ts";

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
