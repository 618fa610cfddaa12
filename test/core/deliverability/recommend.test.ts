import { recommend } from "@mailproof/core/deliverability/recommend";
import { ADVICE } from "@mailproof/mail/advice";
import { BLOCKLISTS } from "@mailproof/mail/blocklists/lists";
import { createDkimIssue } from "@mailproof/mail/dkim/analyse";
import { createDmarcIssue } from "@mailproof/mail/dmarc/rules";
import { createHint, HINT_RULES } from "@mailproof/mail/hints/rules";
import { createMxIssue } from "@mailproof/mail/mx/rules";
import { propose } from "@mailproof/mail/records/dns-record";
import { expect, test } from "vitest";
import { EVERY_ISSUE, finding, issue } from "./findings.ts";

test("recommend sorts its advice by the points regained, most first", () => {
  const advised = recommend(finding("SPF_PTR", "DKIM_NXDOMAIN", "DMARC_P_NONE", "PTR_GENERIC"), []);

  expect(advised.map(({ id, pointsRegained }) => [id, pointsRegained])).toEqual([
    ["add_dkim", 20],
    ["dmarc_enforce", 8],
    ["spf_ptr", 2],
    ["ptr_generic", 1],
  ]);
});

test("recommend puts the graver advice first when two regain the same points", () => {
  const findings = finding("MX_DUP", "SPF_DUP_INCLUDE", "SPF_LOOP", "LISTED:spamhaus-zen");

  expect(recommend(findings, []).map(({ severity }) => severity)).toEqual([
    "critical",
    "critical",
    "low",
    "low",
  ]);
});

test("recommend sorts a broken SPF record before lesser advice, although the proposal has a gap and promises no points", () => {
  const findings = finding("SPF_LOOP", "PTR_GENERIC");
  const record = { name: "example.com", type: "TXT", value: "v=spf1 <senders> ~all" } as const;
  const found = new Map([["spf_include_broken", propose(record)]]);

  const advised = recommend(findings, [], { after: findings, found });

  expect(advised.map(({ id, pointsRegained }) => [id, pointsRegained])).toEqual([
    ["spf_include_broken", 0],
    ["ptr_generic", expect.any(Number)],
  ]);
});

test("recommend counts the points that lifting a cap regains", () => {
  const [first] = recommend(finding("SPF_LOOP", "DMARC_P_NONE"), []);

  expect(first).toMatchObject({ id: "spf_include_broken", pointsRegained: 23 });
});

test("recommend omits advice for an issue that costs no points", () => {
  expect(
    recommend(finding("MX_SINGLE", "DMARC_STRICT", issue("SPF_SOFTFAIL", "lesser")), []),
  ).toEqual([]);
});

test("recommend gives advice that serves several issues once", () => {
  const advised = recommend(finding("DMARC_SP_WEAK", "DMARC_NP"), []);

  expect(advised).toMatchObject([
    { id: "dmarc_sp", severity: "medium", issues: ["DMARC_SP_WEAK", "DMARC_NP"] },
  ]);
});

test.each([
  [createDkimIssue("DKIM_1024", { selector: "s1", bits: 1024 }), "Replace the DKIM key at s1 with"],
  [createDkimIssue("DKIM_NOT_FOUND", { n: 45 }), "under the 45 selectors we tried"],
  [
    createMxIssue("MX_TARGET_CNAME", { host: "mx.example.com" }),
    "CNAME behind MX mx.example.com with",
  ],
  [createDmarcIssue("DMARC_MISSING", { domain: "example.com" }), "at _dmarc.example.com, then"],
  [
    createDmarcIssue("DMARC_RUA_UNAUTHORIZED", { host: "r.test", name: "x._report._dmarc.r.test" }),
    "Ask r.test to",
  ],
])("the text of the advice $id mentions its subject", (one, text) => {
  expect(recommend(finding(one), [])[0]?.text).toContain(text);
});

test("recommend gives separate advice for each listing on a blocklist", () => {
  const listed = (id: string) => ({
    ...issue(`LISTED:${id}`),
    detail: { listed: "192.0.2.1", list: id, says: "spam", url: "https://example.org/" },
  });
  const advised = recommend(finding(listed("spamcop"), listed("psbl")), []);

  expect(advised.map(({ id, text }) => [id, text])).toEqual([
    [
      "delist:spamcop",
      "192.0.2.1 is on spamcop (spam). Stop the cause, then ask for removal at https://example.org/.",
    ],
    [
      "delist:psbl",
      "192.0.2.1 is on psbl (spam). Stop the cause, then ask for removal at https://example.org/.",
    ],
  ]);
});

test("a hint regains no points, and recommend lists it last", () => {
  const advised = recommend(finding("SPF_DUP_INCLUDE"), [
    createHint("MTA_STS_MISSING", { domain: "example.com" }),
  ]);

  expect(advised.map(({ id }) => id)).toEqual(["spf_duplicates", "mta_sts"]);
  expect(advised[1]).toMatchObject({ pointsRegained: 0, severity: "info" });
});

const costly = Object.values(EVERY_ISSUE)
  .flat()
  .filter(({ costPoints }) => costPoints > 0);

test.each([...new Set(costly.map(({ id }) => id))])(
  "recommend gives advice for the issue %s, which costs points",
  (id) => {
    expect(recommend(finding(id), [])).toHaveLength(1);
  },
);

test.each(Object.keys(HINT_RULES))("recommend turns the hint %s into advice", (id) => {
  const hint = createHint(id as keyof typeof HINT_RULES, { domain: "example.com" });

  expect(recommend(finding(), [hint])).toHaveLength(1);
});

test("no two pieces of advice share an id or an issue", () => {
  const ids = ADVICE.map(({ id }) => id);
  const issues = ADVICE.flatMap((advice) => advice.for);

  expect(ids).toEqual([...new Set(ids)]);
  expect(issues).toEqual([...new Set(issues)]);
});

test("each piece of advice concerns an existing issue", () => {
  const recommendable = new Set([
    ...Object.values(EVERY_ISSUE)
      .flat()
      .map(({ id }) => id),
    ...Object.keys(HINT_RULES),
    ...BLOCKLISTS.map(({ id }) => `LISTED:${id}`),
    "BLOCKLISTS_INCONCLUSIVE",
  ]);

  expect(ADVICE.flatMap((advice) => advice.for).filter((id) => !recommendable.has(id))).toEqual([]);
});
