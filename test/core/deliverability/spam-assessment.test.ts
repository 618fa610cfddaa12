import type { Findings } from "@mailproof/core/deliverability/findings";
import { assessSpam } from "@mailproof/core/deliverability/spam-assessment";
import { expect, test } from "vitest";
import { finding, issue } from "./findings.ts";

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
])("%s", (_, findings, id, points) => {
  const { score, factors } = assessSpam(findings);

  expect(factors.filter(({ impact }) => impact === "negative")).toMatchObject([{ id, points }]);
  expect(score).toBe(points);
});

test("a sender without fault has every point in its favour", () => {
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

test("what is not known speaks neither for nor against a sender", () => {
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
])("the likelihood is %s", (likelihood, findings) => {
  expect(assessSpam(findings).likelihood).toBe(likelihood);
});

test("the points end at a hundred", () => {
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
