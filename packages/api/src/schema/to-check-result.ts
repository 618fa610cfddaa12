import type { CheckOutcome, StoredCheck } from "@mailproof/core/deliverability/check-once";
import { measureCoverage } from "@mailproof/core/deliverability/coverage";
import type { FlattenedSpf as FlattenedRecord } from "@mailproof/core/deliverability/flatten";
import type { StoredReport } from "@mailproof/core/deliverability/items";
import { toCredits } from "@mailproof/core/money/credits";
import type { Issue as CoreIssue } from "@mailproof/mail/issue";
import { type ProposedRecord, toStrings } from "@mailproof/mail/records/dns-record";
import type { SpfNode } from "@mailproof/mail/spf/nodes";
import type { Caller } from "../http/endpoint.ts";
import type { CheckMoney, CheckResult, CheckSummary } from "./deliverability-check.ts";
import { omitNull } from "./omit-null.ts";
import type { FlattenedSpf } from "./proposed-records.ts";
import { toDomainFields } from "./sender.ts";

export const toMoney = (
  { price, cached, replayed, remaining }: CheckOutcome,
  { mode }: Caller,
): CheckMoney => ({
  credits_used: mode === "test" ? 0 : toCredits(price),
  ...(remaining !== undefined && { credits_remaining: toCredits(remaining) }),
  cached,
  ...(replayed && { idempotent_replay: true }),
});

export const toCheckSummary = (check: StoredCheck["check"]): CheckSummary => ({
  check_id: check.id,
  ...toDomainFields(check.domain),
  sending_ip: check.sendingIp,
  score: check.score,
  grade: check.grade,
  confidence: check.confidence,
  checked_at: check.checkedAt,
});

export const toCheckResult = ({ check, report }: StoredCheck): CheckResult => ({
  ...toCheckSummary(check),
  ...toSections(report),
});

export const toSections = (report: StoredReport) => {
  const { scored, mx, dkim, spamAssessment } = report;
  const { confidence, missing } = measureCoverage(report);
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
      issues: toIssues(mx.issues),
    },
    authentication: {
      spf: spf(report),
      dkim: {
        status: dkim.status,
        selectors_found: [...dkim.selectorsFound],
        ...omitNull({ score: dkim.score }),
        issues: toIssues(dkim.issues),
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
    recommendations: report.recommendations.map(({ pointsRegained, proposal, ...one }) => ({
      id: one.id,
      severity: one.severity,
      text: one.text,
      points_regained: pointsRegained,
      issues: [...one.issues],
      ...(proposal && toProposalFields(proposal)),
    })),
    ...(report.afterRecords && { after_records: report.afterRecords }),
  };
};

export const toProposalFields = (proposal: ProposedRecord) => {
  const { record, open, replaces, points, note, file } = proposal;
  const strings = record.type === "TXT" ? toStrings(record.value) : [];
  return {
    record: {
      ...record,
      ...(strings.length > 1 && { strings: [...strings] }),
      ...(open.length > 0 && { open: [...open] }),
    },
    ...(replaces.length > 0 && { replaces: [...replaces] }),
    ...omitNull({ record_points: points, file, note }),
  };
};

export const toFlattenedSpf = (flattened: FlattenedRecord): FlattenedSpf => ({
  ...toProposalFields(flattened.proposal),
  includes: flattened.includes.map(({ include, blocks }) => ({ include, address_blocks: blocks })),
  lookups: flattened.lookups,
  bytes: flattened.bytes,
});

export const toIssues = (found: readonly CoreIssue[]): CheckResult["dns"]["issues"] =>
  found.map(({ costPoints, detail, ...issue }) => ({
    ...issue,
    detail: { ...detail },
    cost_points: costPoints,
  }));

const spf = ({ spf: one }: StoredReport) => ({
  status: one.status,
  record: one.record,
  ...omitNull({ score: one.score }),
  lookups: one.lookups,
  void_lookups: one.voidLookups,
  tree: one.tree.map(toTreeNode),
  ...omitNull({ result_for_sending_ip: one.evaluation?.result ?? null }),
  issues: toIssues(one.issues),
});

const toTreeNode = ({ depth, term, domain, status, record, blocks, ...counts }: SpfNode) => ({
  depth,
  ...omitNull({ term, domain }),
  status,
  ...omitNull({ record }),
  lookups: counts.lookups,
  own_lookups: counts.ownLookups,
  ...omitNull({ address_blocks: blocks }),
});

const dmarc = ({ dmarc: one }: StoredReport) => ({
  status: one.status,
  record: one.record,
  policy: one.policy,
  ...omitNull({ record_domain: one.recordDomain, score: one.score }),
  issues: toIssues(one.issues),
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

/** The check opens no connection to a mail server, so the contract requires null for these four fields. */
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
  issues: toIssues(reverseDns?.issues ?? []),
});
