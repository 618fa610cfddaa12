import { createIssueFactory, type IssueRules } from "../issue-rules.ts";

/**
 * What makes mail to or from a domain safer and that no receiver requires yet. It costs nothing in the score:
 * a domain without it is set up as most are.
 */
export const HINT_RULES = {
  WWW_NAME: {
    severity: "info",
    costPoints: 0,
    message: "{domain} is the name of a website. Check {parent}, where mail is usually sent from.",
  },
  MTA_STS_MISSING: {
    severity: "info",
    costPoints: 0,
    message: "{domain} has no MTA-STS policy, so mail to it may be sent in the clear.",
  },
  MTA_STS_BAD: {
    severity: "info",
    costPoints: 0,
    message: "The MTA-STS policy of {domain} is not in force: {fault}.",
  },
  MTA_STS_NOT_ENFORCED: {
    severity: "info",
    costPoints: 0,
    message: "The MTA-STS policy of {domain} is in mode {mode} and guards nothing yet.",
  },
  TLS_RPT_MISSING: {
    severity: "info",
    costPoints: 0,
    message: "{domain} requests no TLS reports, so failed encryption goes unnoticed.",
  },
  TLS_RPT_BAD: {
    severity: "info",
    costPoints: 0,
    message: "The record at _smtp._tls.{domain} is not read: {fault}.",
  },
  BIMI_MISSING: {
    severity: "info",
    costPoints: 0,
    message: "{domain} publishes no logo (BIMI) for mailboxes to show beside its mail.",
  },
  BIMI_BAD: {
    severity: "info",
    costPoints: 0,
    message: "The BIMI record of {domain} is not used: {fault}.",
  },
  DNSSEC_MISSING: {
    severity: "info",
    costPoints: 0,
    message: "{domain} is not signed (DNSSEC), so its records can be forged on the way.",
  },
  DANE_MISSING: {
    severity: "info",
    costPoints: 0,
    message:
      "{domain} is signed (DNSSEC); TLSA records at its mail hosts could pin their keys (DANE).",
  },
} as const satisfies IssueRules<string>;

export const createHint = createIssueFactory(HINT_RULES);
