import type { Issue } from "../issue.ts";
import { createIssueFactory, type IssueRules } from "../issue-rules.ts";

/**
 * Features that make mail to or from a domain safer, and that no receiver requires yet. A missing one costs no points, because most domains
 * lack it.
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
    message: "The MTA-STS policy of {domain} has no effect: {fault}.",
  },
  MTA_STS_UNCHECKED: {
    severity: "info",
    costPoints: 0,
    message:
      "The MTA-STS policy of {domain} could not be fetched from here ({why}), so it was not looked at.",
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
    message: "{domain} publishes no logo (BIMI) for mailboxes to show next to its mail.",
  },
  BIMI_BAD: {
    severity: "info",
    costPoints: 0,
    message: "The BIMI record of {domain} is not used: {fault}.",
  },
  BIMI_LOGO_BAD: {
    severity: "info",
    costPoints: 0,
    message:
      "The logo in the BIMI record of {domain} is not SVG Tiny PS as mailboxes take it: {fault}.",
  },
  BIMI_LOGO_UNCHECKED: {
    severity: "info",
    costPoints: 0,
    message:
      "The logo in the BIMI record of {domain} could not be fetched from here ({why}), so it was not looked at.",
  },
  BIMI_NO_CERTIFICATE: {
    severity: "info",
    costPoints: 0,
    message:
      "The BIMI record of {domain} names no mark certificate (a=), without which Gmail and Apple Mail show no logo.",
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
  DANE_BAD: {
    severity: "info",
    costPoints: 0,
    message:
      "No TLSA record of {host} is of use for mail: only usages 2 and 3 with whole data are (RFC 7672).",
  },
  DANE_UNSIGNED: {
    severity: "info",
    costPoints: 0,
    message:
      "There are TLSA records at {host}, but no DNSSEC was seen for {at}, without which senders do not rely on them.",
  },
  DANE_PARTIAL: {
    severity: "info",
    costPoints: 0,
    message:
      "There are TLSA records at {host}, confirmed by DNSSEC, and none at {others}, where mail is not protected (DANE).",
  },
  EMAIL_VERIFICATION_BAD: {
    severity: "info",
    costPoints: 0,
    message: "The record at _email-verification.{domain} is of no use to browsers: {fault}.",
  },
  EMAIL_VERIFICATION_UNCHECKED: {
    severity: "info",
    costPoints: 0,
    message:
      "The documents of {issuer}, the issuer at _email-verification.{domain}, could not be fetched from here ({why}), so they were not looked at.",
  },
} as const satisfies IssueRules<string>;

/** Features that a domain already has, or does not need. They ask for no action, so a report lists them among the issues of their part. */
export const NOTE_RULES = {
  BIMI_CERTIFICATE: {
    severity: "info",
    costPoints: 0,
    message:
      "The BIMI record of {domain} names a mark certificate at {url}. Its content was not looked at.",
  },
  DANE_PRESENT: {
    severity: "info",
    costPoints: 0,
    message: "There are TLSA records at {host}, confirmed by DNSSEC (DANE).",
  },
  EMAIL_VERIFICATION_PRESENT: {
    severity: "info",
    costPoints: 0,
    message: "Browsers can prove control of addresses at {domain}: its issuer is {issuer}.",
  },
  EMAIL_VERIFICATION_NONE: {
    severity: "info",
    costPoints: 0,
    message:
      "{domain} names no issuer at _email-verification, by which browsers could prove control of its addresses.",
  },
} as const satisfies IssueRules<string>;

export const createHint = createIssueFactory({ ...HINT_RULES, ...NOTE_RULES });

export const isNote = ({ id }: Pick<Issue, "id">): boolean => id in NOTE_RULES;
