import type { Stored, Told } from "@mailproof/core/deliverability/check";
import { CONFIDENCES, coverageOf } from "@mailproof/core/deliverability/coverage";
import { COMPONENTS } from "@mailproof/core/deliverability/findings";
import type { StoredReport } from "@mailproof/core/deliverability/items";
import { type Issue as CoreIssue, SEVERITIES } from "@mailproof/core/mail/issue";
import { toCredits } from "@mailproof/core/money/credits";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { Count, Credits, Integer, textOf } from "./common.ts";
import { omitNull } from "./omit-null.ts";
import { DOMAIN_FIELDS, toDomainFields } from "./sender.ts";

const Text = v.string();

const Severity = v.picklist(SEVERITIES);
const Issue = v.object({
  id: v.string(),
  severity: Severity,
  message: v.string(),
  detail: v.record(v.string(), v.union([v.string(), Integer])),
  cost_points: Count,
});
const Issues = v.array(Issue);
const STATUSES = ["pass", "warn", "fail", "missing", "unknown", "error"] as const;
const Status = v.picklist(STATUSES);
const ReverseDnsStatus = v.picklist([...STATUSES, "not_checked"]);

const Grade = v.picklist(["A", "B", "C", "D", "F"]);

/** What the history shows of a check, and the check itself shows first. */
export const CheckFacts = v.object({
  check_id: v.string(),
  ...DOMAIN_FIELDS,
  sending_ip: v.optional(textOf("ipv4")),
  score: Integer,
  grade: Grade,
  /** Left out of the history for a check of the first release. */
  confidence: v.optional(v.picklist(CONFIDENCES)),
  checked_at: v.string(),
});

/** A deliverability check as every way out of the service shows it. */
export const CheckResult = v.object({
  ...CheckFacts.entries,
  confidence: v.picklist(CONFIDENCES),
  missing_parts: v.array(v.picklist(COMPONENTS)),
  model_version: v.string(),
  score_parts: v.object({
    components: v.array(v.object({ component: v.string(), weight: Count, score: Integer })),
    before_cap: Count,
    capped_by: v.optional(Text),
  }),
  dns: v.object({
    status: Status,
    mx_records: v.array(
      v.object({ priority: Integer, host: v.string(), ip: v.nullable(v.string()) }),
    ),
    has_valid_mx: v.optional(v.boolean()),
    mx_score: v.optional(Integer),
    issues: Issues,
  }),
  authentication: v.object({
    spf: v.object({
      status: Status,
      record: v.optional(Text),
      score: v.optional(Integer),
      lookups: Integer,
      void_lookups: Integer,
      result_for_sending_ip: v.optional(Text),
      issues: Issues,
    }),
    dkim: v.object({
      status: Status,
      selectors_found: v.array(v.string()),
      score: v.optional(Integer),
      issues: Issues,
    }),
    dmarc: v.object({
      status: Status,
      record: v.optional(Text),
      record_domain: v.optional(Text),
      policy: v.optional(Text),
      score: v.optional(Integer),
      issues: Issues,
    }),
  }),
  reputation: v.object({
    score: v.nullable(Integer),
    blacklists_checked: Integer,
    blacklists_inconclusive: Integer,
    blacklists_skipped: Integer,
    blacklists_total: Integer,
    blacklists_listed: Integer,
    listed_on: v.array(
      v.object({
        id: v.string(),
        name: v.string(),
        listed: v.string(),
        codes: v.array(v.string()),
        says: v.string(),
        removal_url: v.string(),
      }),
    ),
  }),
  server: v.object({
    accepts_mail: v.null(),
    response_time_ms: v.null(),
    supports_tls: v.null(),
    tls_version: v.null(),
    reverse_dns_status: ReverseDnsStatus,
    reverse_dns: v.optional(Text),
    reverse_dns_confirmed: v.optional(v.boolean()),
    reverse_dns_score: v.optional(Integer),
    issues: Issues,
  }),
  spam_assessment: v.object({
    score: Integer,
    spam_likelihood: v.picklist(["low", "medium", "high"]),
    factors: v.array(
      v.object({
        id: v.string(),
        impact: v.picklist(["positive", "negative"]),
        points: Count,
        description: v.string(),
      }),
    ),
  }),
  recommendations: v.array(
    v.object({
      id: v.string(),
      severity: Severity,
      text: v.string(),
      points_regained: Integer,
      issues: v.array(v.string()),
    }),
  ),
});

export type CheckResult = v.InferOutput<typeof CheckResult>;

/** What an answer says of the money beside the result. */
export const CheckMoney = v.object({
  credits_used: Credits,
  credits_remaining: v.optional(Credits),
  cached: v.boolean(),
  idempotent_replay: v.optional(v.boolean()),
});

export const toMoney = (
  { price, cached, replayed, remaining }: Told,
  { mode }: Caller,
): v.InferOutput<typeof CheckMoney> => ({
  credits_used: mode === "test" ? 0 : toCredits(price),
  ...(remaining !== undefined && { credits_remaining: toCredits(remaining) }),
  cached,
  ...(replayed && { idempotent_replay: true }),
});

export const toFacts = ({
  id,
  domain,
  sendingIp,
  score,
  grade,
  confidence,
  checkedAt,
}: Stored["check"]): v.InferOutput<typeof CheckFacts> => ({
  check_id: id,
  ...toDomainFields(domain),
  ...omitNull({ sending_ip: sendingIp }),
  score,
  grade,
  ...(confidence && { confidence }),
  checked_at: checkedAt,
});

export const toCheckResult = ({ check, report }: Stored): CheckResult => ({
  ...toFacts(check),
  ...toSections(report),
});

/** All of a report that does not say whose it is and when it was made. */
export const toSections = (report: StoredReport) => {
  const { scored, mx, dkim, spamAssessment } = report;
  const { confidence, missing } = coverageOf(report);
  return {
    confidence,
    missing_parts: [...missing],
    model_version: report.modelVersion,
    score_parts: {
      components: [...scored.parts],
      before_cap: scored.uncapped,
      ...omitNull({ capped_by: scored.cappedBy }),
    },
    dns: {
      status: mx.status,
      mx_records: [...mx.records],
      ...omitNull({ has_valid_mx: mx.hasValidMx, mx_score: mx.score }),
      issues: issues(mx.issues),
    },
    authentication: {
      spf: spf(report),
      dkim: {
        status: dkim.status,
        selectors_found: [...dkim.selectorsFound],
        ...omitNull({ score: dkim.score }),
        issues: issues(dkim.issues),
      },
      dmarc: dmarc(report),
    },
    reputation: reputation(report),
    server: server(report),
    spam_assessment: {
      score: spamAssessment.score,
      spam_likelihood: spamAssessment.likelihood,
      factors: [...spamAssessment.factors],
    },
    recommendations: report.recommendations.map(({ pointsRegained, ...one }) => ({
      id: one.id,
      severity: one.severity,
      text: one.text,
      points_regained: pointsRegained,
      issues: [...one.issues],
    })),
  };
};

const issues = (found: readonly CoreIssue[]): v.InferOutput<typeof Issues> =>
  found.map(({ costPoints, detail, ...issue }) => ({
    ...issue,
    detail: { ...detail },
    cost_points: costPoints,
  }));

const spf = ({ spf: one }: StoredReport) => ({
  status: one.status,
  ...omitNull({ record: one.record, score: one.score }),
  lookups: one.lookups,
  void_lookups: one.voidLookups,
  ...omitNull({ result_for_sending_ip: one.evaluation?.result ?? null }),
  issues: issues(one.issues),
});

const dmarc = ({ dmarc: one }: StoredReport) => ({
  status: one.status,
  ...omitNull({
    record: one.record,
    record_domain: one.recordDomain,
    policy: one.policy,
    score: one.score,
  }),
  issues: issues(one.issues),
});

const reputation = ({ reputation: one }: StoredReport) => ({
  score: one.score,
  blacklists_checked: one.checked,
  blacklists_inconclusive: one.inconclusive,
  blacklists_skipped: one.skipped,
  blacklists_total: one.total,
  blacklists_listed: one.listed,
  listed_on: one.listedOn.map(({ removal, codes, ...listing }) => ({
    ...listing,
    codes: [...codes],
    removal_url: removal,
  })),
});

/** The check opens no connection to a mail server, so the contract has null for these four. */
const server = ({ reverseDns }: StoredReport) => ({
  accepts_mail: null,
  response_time_ms: null,
  supports_tls: null,
  tls_version: null,
  reverse_dns_status: reverseDns?.status ?? ("not_checked" as const),
  ...(reverseDns &&
    omitNull({
      reverse_dns: reverseDns.name,
      reverse_dns_confirmed: reverseDns.isConfirmed,
      reverse_dns_score: reverseDns.score,
    })),
  issues: issues(reverseDns?.issues ?? []),
});
