import type { CheckDomainData } from "@mailproof/client/types";
import type { Shown } from "./report-sections.ts";

type Told = CheckDomainData;
type Issues = Told["dns"]["issues"];

/** A report as a service tells it, for whoever shows our own. */
export const shownOf = (told: Told): Shown => ({
  domain: told.domain,
  sendingIp: told.sending_ip,
  modelVersion: told.model_version,
  scored: {
    score: told.score,
    grade: told.grade,
    cappedBy: told.score_parts.capped_by,
    uncapped: told.score_parts.before_cap,
  },
  mx: {
    status: told.dns.status,
    score: told.dns.mx_score,
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

const authenticationOf = ({ authentication: { spf, dkim, dmarc } }: Told) => ({
  spf: {
    ...spf,
    issues: issues(spf.issues),
    evaluation: spf.result_for_sending_ip === null ? null : { result: spf.result_for_sending_ip },
  },
  dkim: { ...dkim, issues: issues(dkim.issues), selectorsFound: dkim.selectors_found },
  dmarc: { ...dmarc, issues: issues(dmarc.issues), recordDomain: dmarc.record_domain },
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
  if (sending_ip === null) return null;
  const {
    reverse_dns: name,
    reverse_dns_confirmed: isConfirmed,
    reverse_dns_score: score,
  } = server;
  const status = name === null ? "missing" : isConfirmed ? "pass" : "fail";
  return {
    status: score === null ? "error" : status,
    name,
    isConfirmed,
    score,
    issues: issues(server.issues),
  };
};
