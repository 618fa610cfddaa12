import { COMPONENTS, type Findings } from "@mailproof/core/deliverability/findings";
import { CAPS, scoreFindings, WEIGHTS } from "@mailproof/core/deliverability/score";
import { assessSpam } from "@mailproof/core/deliverability/spam-assessment";
import { toGrade } from "@mailproof/mail/grade";
import { describe, expect, test } from "vitest";
import { finding, issue } from "./findings.ts";

const NOTHING: Findings = {
  dns: null,
  spf: null,
  dkim: null,
  dmarc: null,
  reputation: null,
  ptr: null,
};

type Row = readonly [what: string, findings: Findings, score: number, cappedBy: string | null];

test.each<Row>([
  ["no issue", finding(), 100, null],
  ["no MX beside other hosts", finding(issue("MX_TARGET_NX", "lesser")), 98, null],
  ["an implicit MX", finding("MX_IMPLICIT"), 94, null],
  ["no such domain", finding("MX_NXDOMAIN"), 39, "no_domain"],
  ["no MX and no address", finding("MX_NONE_NO_A"), 59, "no_valid_mx"],
  ["a null MX", finding("MX_NULL"), 59, "no_valid_mx"],
  ["a null MX of a parked domain", finding(issue("MX_NULL", "lesser")), 100, null],
  ["only MX hosts that do not exist", finding("MX_TARGET_NX"), 59, "no_valid_mx"],
  ["no SPF", finding("SPF_MISSING"), 80, null],
  ["no SPF and no DKIM", finding("SPF_MISSING", "DKIM_NXDOMAIN"), 49, "no_spf_no_dkim"],
  ["no SPF and only a revoked key", finding("SPF_MISSING", "DKIM_REVOKED"), 49, "no_spf_no_dkim"],
  ["no SPF and no DKIM that is known of", finding("SPF_MISSING", "DKIM_NOT_FOUND"), 70, null],
  ["two SPF records", finding("SPF_MULTIPLE"), 69, "spf_broken"],
  ["an SPF record with an error", finding("SPF_SYNTAX"), 69, "spf_broken"],
  ["too many look-ups", finding("SPF_LOOKUPS_GT_10"), 69, "spf_broken"],
  ["an include without SPF", finding("SPF_INCLUDE_NONE"), 69, "spf_broken"],
  ["+all", finding("SPF_PLUS_ALL"), 69, "spf_open"],
  ["a block of the whole internet", finding("SPF_WIDE_CIDR"), 69, "spf_open"],
  ["a wide block", finding(issue("SPF_WIDE_CIDR", "lesser")), 97, null],
  ["no DKIM key that is known of", finding("DKIM_NOT_FOUND"), 90, null],
  ["no DMARC", finding("DMARC_MISSING"), 80, null],
  [
    "no DMARC among few known components",
    { ...NOTHING, ...pick(finding("DMARC_MISSING"), "dns", "dmarc") },
    43,
    null,
  ],
  ["DMARC none", finding("DMARC_P_NONE"), 92, null],
  ["a listing at a list of spam sources", finding("LISTED:spamhaus-zen"), 49, "listed_gravely"],
  ["a listing at a small list", finding("LISTED:blocklist-de"), 98, null],
  ["no PTR", finding("PTR_MISSING"), 95, null],
])("the score and its cap follow from %s", (_, findings, score, cappedBy) => {
  expect(scoreFindings(findings)).toMatchObject({ score, cappedBy });
});

function pick(findings: Findings, ...components: readonly (keyof Findings)[]): Partial<Findings> {
  return Object.fromEntries(components.map((component) => [component, findings[component]]));
}

test("the score omits a component without a verdict, and does not count it as zero", () => {
  expect(scoreFindings({ ...finding(), spf: null, reputation: null, ptr: null })?.score).toBe(100);
  expect(scoreFindings({ ...NOTHING, dns: [], spf: [issue("SPF_MISSING")] })?.score).toBe(43);
});

test("the check returns no score when no component has a verdict", () => {
  expect(scoreFindings(NOTHING)).toBeNull();
});

test("the parts of a score add up to the score", () => {
  const scored = scoreFindings(finding("SPF_PTR", "DMARC_P_NONE", "PTR_GENERIC"));
  const weighted = scored?.parts.map(({ weight, score }) => weight * score) ?? [];

  expect(scored?.parts.map(({ component }) => component)).toEqual([...COMPONENTS]);
  expect(Math.round(weighted.reduce((sum, part) => sum + part, 0) / 100)).toBe(scored?.uncapped);
});

test("the components' weights add up to 100", () => {
  expect(Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0)).toBe(100);
});

test("the lowest of several caps limits the score, and a mean below all caps stays unchanged", () => {
  const findings = finding("SPF_LOOP", "MX_NULL", "LISTED:spamhaus-zen");

  expect(scoreFindings(findings)).toMatchObject({ score: 49, cappedBy: "listed_gravely" });
  expect(scoreFindings({ ...findings, dmarc: null, dkim: null })).toMatchObject({
    score: 28,
    cappedBy: null,
  });
});

test.each(CAPS)("the cap $id limits no score without an issue", ({ holds }) => {
  expect(holds(finding())).toBe(false);
  expect(holds(NOTHING)).toBe(false);
});

test.each([
  [100, "A"],
  [90, "A"],
  [89, "B"],
  [80, "B"],
  [79, "C"],
  [70, "C"],
  [69, "D"],
  [60, "D"],
  [59, "F"],
  [0, "F"],
])("a score of %i receives the grade %s", (score, grade) => {
  expect(toGrade(score)).toBe(grade);
});

describe("spam points of a check", () => {
  type Row = readonly [what: string, findings: Findings, factor: string, points: number];

  test.each<Row>([
    ["no SPF", finding("SPF_MISSING"), "NO_SPF", 20],
    ["a broken SPF record", finding("SPF_SYNTAX", "SPF_LOOP"), "SPF_PERMERROR", 25],
    ["+all", finding("SPF_PLUS_ALL"), "SPF_OPEN", 25],
    ["no DKIM", finding("DKIM_NXDOMAIN"), "NO_DKIM", 20],
    ["no DKIM that is known of", finding("DKIM_NOT_FOUND"), "DKIM_UNKNOWN", 5],
    ["no DMARC", finding("DMARC_MISSING"), "NO_DMARC", 15],
    ["DMARC none", finding("DMARC_P_NONE"), "DMARC_NONE", 5],
    ["DMARC that is read as none", finding(issue("DMARC_P_MISSING", "lesser")), "DMARC_NONE", 5],
    ["no PTR", finding("PTR_MISSING"), "NO_PTR", 20],
    ["a PTR that leads elsewhere", finding("PTR_MISMATCH"), "PTR_MISMATCH", 10],
    ["a PTR of a pool", finding("PTR_GENERIC"), "PTR_GENERIC", 8],
    ["no MX", finding("MX_NONE_NO_A"), "NO_MX", 15],
    ["on the SBL", finding("LISTED:spamhaus-zen"), "LISTED:spamhaus-zen", 40],
    ["on SpamCop", finding("LISTED:spamcop"), "LISTED:spamcop", 30],
    ["on the DBL", finding("LISTED:spamhaus-dbl"), "LISTED:spamhaus-dbl", 40],
    ["on SURBL", finding("LISTED:surbl"), "LISTED:surbl", 40],
    ["a new domain", finding("LISTED:spamhaus-zrd"), "LISTED:spamhaus-zrd", 15],
    ["on a list that few ask", finding("LISTED:uceprotect-1"), "LISTED:uceprotect-1", 5],
  ])("a finding adds its spam points: %s", (_, findings, id, points) => {
    const { score, factors } = assessSpam(findings);

    expect(factors.filter(({ impact }) => impact === "negative")).toMatchObject([{ id, points }]);
    expect(score).toBe(points);
  });

  test("a sender without fault receives every favourable factor", () => {
    const { score, likelihood, factors } = assessSpam(finding());

    expect({ score, likelihood }).toEqual({ score: 0, likelihood: "low" });
    expect(factors.map(({ id, impact, points }) => `${id} ${impact} ${points}`)).toEqual([
      "SPF_OK positive 0",
      "DKIM_OK positive 0",
      "DMARC_ENFORCED positive 0",
      "NOT_LISTED positive 0",
      "FCRDNS_OK positive 0",
    ]);
  });

  test("an unknown component adds no factor for or against a sender", () => {
    const unknown = { dns: null, spf: null, dkim: null, dmarc: null, reputation: null, ptr: null };

    expect(assessSpam(unknown)).toEqual({ score: 0, likelihood: "low", factors: [] });
  });

  test.each([
    ["low", finding("DMARC_MISSING")],
    ["medium", finding("SPF_MISSING")],
    ["medium", finding("SPF_MISSING", "PTR_MISSING", "DMARC_P_NONE")],
    ["high", finding("SPF_MISSING", "PTR_MISSING", "PTR_MISMATCH")],
    [
      "high",
      finding(
        "SPF_MISSING",
        "DKIM_NXDOMAIN",
        "DMARC_MISSING",
        "MX_NXDOMAIN",
        "PTR_MISSING",
        "LISTED:surbl",
      ),
    ],
  ])("the findings lead to the spam likelihood %s", (likelihood, findings) => {
    expect(assessSpam(findings).likelihood).toBe(likelihood);
  });

  test("the spam points of a mail never exceed 100", () => {
    const all = finding(
      "SPF_MISSING",
      "DKIM_NXDOMAIN",
      "DMARC_MISSING",
      "MX_NXDOMAIN",
      "PTR_MISSING",
      "LISTED:surbl",
    );

    expect(assessSpam(all).score).toBe(100);
  });
});
