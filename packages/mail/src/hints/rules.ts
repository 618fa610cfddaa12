import type { Issue } from "../issue.ts";
import { createIssueFactory, INFO, type IssueRules } from "../issue-rules.ts";

const toInfoRules = <Id extends string>(messages: Readonly<Record<Id, string>>) =>
  Object.fromEntries(
    Object.entries<string>(messages).map(([id, message]) => [id, { ...INFO, message }]),
  ) as IssueRules<Id>;

/**
 * Features that make mail to or from a domain safer, and that no receiver requires yet. A missing one costs no points, because most domains
 * lack it.
 */
export const HINT_RULES = toInfoRules({
  WWW_NAME: "{domain} is the name of a website. Check {parent}, where mail is usually sent from.",
  MTA_STS_MISSING: "{domain} has no MTA-STS policy, so mail to it may be sent in the clear.",
  MTA_STS_BAD: "The MTA-STS policy of {domain} has no effect: {fault}.",
  MTA_STS_UNCHECKED:
    "The MTA-STS policy of {domain} could not be fetched from here ({why}), so it was not looked at.",
  MTA_STS_NOT_ENFORCED: "The MTA-STS policy of {domain} is in mode {mode} and guards nothing yet.",
  TLS_RPT_MISSING: "{domain} requests no TLS reports, so failed encryption goes unnoticed.",
  TLS_RPT_BAD: "The record at _smtp._tls.{domain} is not read: {fault}.",
  BIMI_MISSING: "{domain} publishes no logo (BIMI) for mailboxes to show next to its mail.",
  BIMI_BAD: "The BIMI record of {domain} is not used: {fault}.",
  BIMI_LOGO_BAD:
    "The logo in the BIMI record of {domain} is not SVG Tiny PS as mailboxes take it: {fault}.",
  BIMI_LOGO_UNCHECKED:
    "The logo in the BIMI record of {domain} could not be fetched from here ({why}), so it was not looked at.",
  BIMI_NO_CERTIFICATE:
    "The BIMI record of {domain} names no mark certificate (a=), without which Gmail and Apple Mail show no logo.",
  DNSSEC_MISSING: "{domain} is not signed (DNSSEC), so its records can be forged on the way.",
  DANE_MISSING:
    "{domain} is signed (DNSSEC); TLSA records at its mail hosts could pin their keys (DANE).",
  DANE_BAD:
    "No TLSA record of {host} is of use for mail: only usages 2 and 3 with whole data are (RFC 7672).",
  DANE_UNSIGNED:
    "There are TLSA records at {host}, but no DNSSEC was seen for {at}, without which senders do not rely on them.",
  DANE_PARTIAL:
    "There are TLSA records at {host}, confirmed by DNSSEC, and none at {others}, where mail is not protected (DANE).",
  EMAIL_VERIFICATION_BAD:
    "The record at _email-verification.{domain} is of no use to browsers: {fault}.",
  EMAIL_VERIFICATION_UNCHECKED:
    "The documents of {issuer}, the issuer at _email-verification.{domain}, could not be fetched from here ({why}), so they were not looked at.",
});

/** Features that a domain already has, or does not need. They ask for no action, so a report lists them among the issues of their part. */
export const NOTE_RULES = toInfoRules({
  BIMI_CERTIFICATE:
    "The BIMI record of {domain} names a mark certificate at {url}. Its content was not looked at.",
  DANE_PRESENT: "There are TLSA records at {host}, confirmed by DNSSEC (DANE).",
  EMAIL_VERIFICATION_PRESENT:
    "Browsers can prove control of addresses at {domain}: its issuer is {issuer}.",
  EMAIL_VERIFICATION_NONE:
    "{domain} names no issuer at _email-verification, by which browsers could prove control of its addresses.",
});

export const createHint = createIssueFactory({ ...HINT_RULES, ...NOTE_RULES });

export const isNote = ({ id }: Pick<Issue, "id">): boolean => id in NOTE_RULES;
