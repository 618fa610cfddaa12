import {
  createIssueFactory,
  critical,
  high,
  INFO,
  type IssueRules,
  low,
  medium,
} from "../issue-rules.ts";

export const MX_RULES = {
  MX_NXDOMAIN: {
    ...critical(100),
    message: "{domain} does not exist. Its mail cannot be replied to.",
  },
  MX_NONE_NO_A: {
    ...critical(100),
    message: "{domain} has neither an MX record nor an address, so it can receive no mail.",
  },
  // RFC 5321 §5.1: the domain is its own mail host, at preference 0.
  MX_IMPLICIT: {
    ...medium(40),
    message: "{domain} has no MX record. Mail goes to its own address, which not all senders try.",
  },
  // RFC 7505 §3. A domain whose other records also say that it sends no mail may publish a null MX.
  MX_NULL: {
    ...high(100),
    lesser: INFO,
    message:
      "{domain} accepts no mail (null MX). Receivers may refuse mail from a domain that cannot receive replies.",
  },
  MX_NULL_MIXED: {
    ...high(60),
    message: "A null MX must be the only MX record, and {domain} has others.",
  },
  // RFC 2181 §10.3: an MX must not name an alias.
  MX_TARGET_CNAME: {
    ...medium(15),
    message: "An MX must name a host with its own addresses, and {host} is an alias.",
  },
  MX_TARGET_IP: {
    ...high(40),
    lesser: high(15),
    message: "An MX must name a host, and {host} is an address.",
  },
  MX_TARGET_NX: {
    ...high(60),
    lesser: high(15),
    message: "The mail host {host} has no address.",
  },
  MX_TARGET_PRIVATE: {
    ...high(80),
    lesser: high(15),
    message: "The mail host {host} has only addresses that the internet cannot reach.",
  },
  MX_SINGLE: {
    ...INFO,
    message: "All mail hangs on one host or one address.",
  },
  MX_DUP: {
    ...low(3),
    message: "{host} is named by more than one MX record.",
  },
  NS: {
    ...low(5),
    message: "{domain} has one name server only. When it is down, so is the domain's mail.",
  },
  MX_SERVFAIL: {
    ...INFO,
    message: "The name servers failed, so it is not known where mail for {domain} goes.",
  },
  MX_TIMEOUT: {
    ...INFO,
    message: "The name servers did not answer in time, so it is not known where mail goes.",
  },
} as const satisfies IssueRules<string>;

export const createMxIssue = createIssueFactory(MX_RULES);
