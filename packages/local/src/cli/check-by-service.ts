import type { CheckDomainData } from "@mailproof/client/types";
import type { ReportView } from "./report-sections.ts";

type CheckResponse = CheckDomainData;
type ResponseIssues = CheckResponse["dns"]["issues"];

/** Converts a service's report to the form that show-report prints. */
export const toReportView = (response: CheckResponse): ReportView => ({
  domain: response.domain,
  sendingIp: response.sending_ip ?? null,
  modelVersion: response.model_version,
  confidence: response.confidence,
  scored: {
    score: response.score,
    grade: response.grade,
    cappedBy: response.score_parts.capped_by ?? null,
    uncapped: response.score_parts.before_cap,
  },
  mx: {
    status: response.dns.status,
    score: response.dns.mx_score ?? null,
    issues: toIssueViews(response.dns.issues),
    records: response.dns.mx_records,
  },
  ...toAuthentication(response),
  reputation: toReputation(response),
  reverseDns: toReverseDns(response),
  // These do not affect the score, and a service does not return them.
  hints: [],
  spamAssessment: {
    score: response.spam_assessment.score,
    likelihood: response.spam_assessment.spam_likelihood,
    factors: response.spam_assessment.factors,
  },
  recommendations: response.recommendations.map(({ severity, text, points_regained }) => ({
    severity,
    text,
    pointsRegained: points_regained,
  })),
});

const toIssueViews = (response: ResponseIssues) =>
  response.map(({ severity, message, cost_points }) => ({
    severity,
    message,
    costPoints: cost_points,
  }));

/** What the three parts of the authentication have in common. A service leaves out a score that is not known. */
const toPart = ({
  status,
  score,
  issues: found,
}: Pick<CheckResponse["authentication"]["dkim"], "status" | "score" | "issues">) => ({
  status,
  score: score ?? null,
  issues: toIssueViews(found),
});

const toAuthentication = ({ authentication: { spf, dkim, dmarc } }: CheckResponse) => ({
  spf: {
    ...spf,
    ...toPart(spf),
    record: spf.record ?? null,
    evaluation: spf.result_for_sending_ip ? { result: spf.result_for_sending_ip } : null,
  },
  dkim: { ...dkim, ...toPart(dkim), selectorsFound: dkim.selectors_found },
  dmarc: {
    ...toPart(dmarc),
    record: dmarc.record ?? null,
    recordDomain: dmarc.record_domain ?? null,
    policy: dmarc.policy ?? null,
  },
});

const toReputation = ({ reputation }: CheckResponse): ReportView["reputation"] => ({
  score: reputation.score,
  checked: reputation.blacklists_checked,
  listed: reputation.blacklists_listed,
  // A service counts the lists without a verdict and does not name them.
  outcomes: [],
  issues: reputation.listed_on.map(({ name, says, listed, removal_url }) => ({
    severity: "high",
    message: `${name} lists ${listed}: ${says} See ${removal_url}`,
    costPoints: 0,
  })),
});

const toReverseDns = ({ sending_ip, server }: CheckResponse): ReportView["reverseDns"] => {
  if (sending_ip === undefined) return null;
  return {
    status: server.reverse_dns_status,
    name: server.reverse_dns ?? null,
    isConfirmed: server.reverse_dns_confirmed ?? null,
    score: server.reverse_dns_score ?? null,
    issues: toIssueViews(server.issues),
  };
};
