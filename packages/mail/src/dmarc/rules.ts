import {
  createIssueFactory,
  critical,
  high,
  INFO,
  type IssueRules,
  low,
  medium,
} from "../issue-rules.ts";

export const DMARC_RULES = {
  DMARC_MISSING: {
    ...high(100),
    message: "There is no DMARC record for {domain}, neither its own nor one of a domain above.",
  },
  // RFC 9989 §4.10: receivers discard several records.
  DMARC_MULTIPLE: {
    ...critical(100),
    message: "There are {n} DMARC records at {name}: {effect}.",
  },
  DMARC_VERSION: {
    ...critical(100),
    message: "The record at {name} does not start with exactly v=DMARC1, so receivers ignore it.",
  },
  // RFC 9989 §4.10.1. In the lesser case the record requests reports, so receivers read the policy as none.
  DMARC_P_MISSING: {
    ...high(100),
    lesser: high(70),
    message: "The DMARC record has no valid {tag}=, so receivers {effect}.",
  },
  DMARC_P_NONE: {
    ...medium(40),
    message: "The DMARC policy for {domain} is none{why}: forged mail is delivered all the same.",
  },
  DMARC_P_QUARANTINE: {
    ...low(10),
    message: "The DMARC policy for {domain} is quarantine: forged mail still reaches spam folders.",
  },
  DMARC_SP_WEAK: {
    ...medium(20),
    lesser: low(5),
    message:
      "sp={sp}: receivers apply {applied} to {names} of {domain}, and {policy} to the domain itself.",
  },
  DMARC_NP: {
    ...low(5),
    message:
      "np={np}: receivers apply {applied} to names below {domain} that do not exist, and {policy} to the domain itself.",
  },
  // The lesser case lowers reject to quarantine. Otherwise the domain is as unprotected as with p=none.
  DMARC_T_Y: {
    ...medium(40),
    lesser: medium(25),
    message: "t=y is test mode: receivers apply {policy} instead of {published}.",
  },
  // RFC 9989 removed these three tags; older receivers still obey a pct below 100.
  DMARC_PCT: {
    ...low(15),
    lesser: low(5),
    message: "pct={pct} was removed from DMARC. For testing there is t=y.",
  },
  DMARC_RF: {
    ...low(5),
    message: "rf= was removed from DMARC.",
  },
  DMARC_RI: {
    ...low(5),
    message: "ri= was removed from DMARC.",
  },
  DMARC_UNKNOWN_TAG: {
    ...INFO,
    message: "Receivers ignore these parts of the record: {tags}.",
  },
  // RFC 9989 §4.8: the default replaces an invalid value.
  DMARC_TAG_VALUE: {
    ...low(2),
    message:
      "The DMARC record has values that do not exist, and receivers read the default instead: {tags}.",
  },
  // RFC 6376 §3.2: a duplicate tag makes the list invalid.
  DMARC_DUP_TAG: {
    ...high(80),
    message: "The DMARC record has {tags}= more than once, which makes it invalid.",
  },
  DMARC_NO_RUA: {
    ...low(10),
    message: "No aggregate reports are requested (rua=), so you cannot see who sends in your name.",
  },
  // The lesser case: the address works in part, or by a feature that the standard has removed.
  DMARC_RUA_BAD: {
    ...medium(10),
    lesser: low(2),
    message: "rua= is not as it should be: {fault}.",
  },
  DMARC_RUA_UNAUTHORIZED: {
    ...medium(10),
    message: "Reports to {host} are not sent, because {name} does not allow it.",
  },
  DMARC_RUA_NO_MX: {
    ...medium(10),
    message: "Reports go to {host}, which has no MX record.",
  },
  // Few receivers send failure reports, so these faults cost less than those of rua.
  DMARC_RUF_BAD: {
    ...low(2),
    lesser: low(1),
    message: "ruf= is not as it should be: {fault}.",
  },
  DMARC_RUF_UNAUTHORIZED: {
    ...low(2),
    message: "Failure reports to {host} are not sent, because {name} does not allow it.",
  },
  DMARC_RUF_NO_MX: {
    ...low(2),
    message: "Failure reports go to {host}, which has no MX record.",
  },
  // The lesser case: another record applies.
  DMARC_WRONG_PLACE: {
    ...medium(100),
    lesser: medium(10),
    message: "{what}.",
  },
  DMARC_STRICT: {
    ...INFO,
    message: "Alignment is strict ({tags}): mail from subdomains' senders does not pass.",
  },
  DMARC_INHERITED: {
    ...INFO,
    message: "{domain} has no valid DMARC record of its own. The record of {from} applies.",
  },
  DMARC_INCONCLUSIVE: {
    ...INFO,
    message: "The name servers did not answer, so it is not known which DMARC record counts.",
  },
} as const satisfies IssueRules<string>;

export type DmarcRule = keyof typeof DMARC_RULES;

export const createDmarcIssue = createIssueFactory(DMARC_RULES);
