import type { CheckDomainData } from "@mailproof/client/types";
import type { Shown } from "./report-sections.ts";

type Told = CheckDomainData;
type Issues = Told["dns"]["issues"];

/** A report as a service tells it, for whoever shows our own. */
export const shownOf = (told: Told): Shown => ({
  domain: told.domain,
  sendingIp: told.sending_ip ?? null,
  modelVersion: told.model_version,
  confidence: told.confidence,
  scored: {
    score: told.score,
    grade: told.grade,
    cappedBy: told.score_parts.capped_by ?? null,
    uncapped: told.score_parts.before_cap,
  },
  mx: {
    status: told.dns.status,
    score: told.dns.mx_score ?? null,
    issues: issues(told.dns.issues),
    records: told.dns.mx_records,
  },
  ...authenticationOf(told),
  reputation: reputationOf(told),
  reverseDns: reverseDnsOf(told),
  // Nothing is lost of the score by these, and a service does not tell them.
  hints: [],
  spamAssessment: {
    score: told.spam_assessment.score,
    likelihood: told.spam_assessment.spam_likelihood,
    factors: told.spam_assessment.factors,
  },
  recommendations: told.recommendations.map(({ severity, text, points_regained }) => ({
    severity,
    text,
    pointsRegained: points_regained,
  })),
});

const issues = (told: Issues) =>
  told.map(({ severity, message, cost_points }) => ({
    severity,
    message,
    costPoints: cost_points,
  }));

/** What the three parts of the authentication have in common. A service leaves out a score that is not known. */
const partOf = ({
  status,
  score,
  issues: found,
}: Pick<Told["authentication"]["dkim"], "status" | "score" | "issues">) => ({
  status,
  score: score ?? null,
  issues: issues(found),
});

const authenticationOf = ({ authentication: { spf, dkim, dmarc } }: Told) => ({
  spf: {
    ...spf,
    ...partOf(spf),
    record: spf.record ?? null,
    evaluation: spf.result_for_sending_ip ? { result: spf.result_for_sending_ip } : null,
  },
  dkim: { ...dkim, ...partOf(dkim), selectorsFound: dkim.selectors_found },
  dmarc: {
    ...partOf(dmarc),
    record: dmarc.record ?? null,
    recordDomain: dmarc.record_domain ?? null,
    policy: dmarc.policy ?? null,
  },
});

const reputationOf = ({ reputation }: Told): Shown["reputation"] => ({
  score: reputation.score,
  checked: reputation.blacklists_checked,
  listed: reputation.blacklists_listed,
  // A service counts those that gave no verdict, and does not name them.
  outcomes: [],
  issues: reputation.listed_on.map(({ name, says, listed, removal_url }) => ({
    severity: "high",
    message: `${name} lists ${listed}: ${says} See ${removal_url}`,
    costPoints: 0,
  })),
});

const reverseDnsOf = ({ sending_ip, server }: Told): Shown["reverseDns"] => {
  if (sending_ip === undefined) return null;
  return {
    status: server.reverse_dns_status,
    name: server.reverse_dns ?? null,
    isConfirmed: server.reverse_dns_confirmed ?? null,
    score: server.reverse_dns_score ?? null,
    issues: issues(server.issues),
  };
};
