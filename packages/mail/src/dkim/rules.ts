import { createIssueFactory, type IssueRules } from "../issue-rules.ts";

export const DKIM_RULES = {
  // RFC 8020: no name exists below a name that does not exist. The check asked for the likeliest keys nevertheless.
  DKIM_NXDOMAIN: {
    severity: "high",
    costPoints: 100,
    message:
      "{domain} has no DKIM key: _domainkey.{domain} does not exist, and neither does any of the {n} likeliest keys.",
  },
  DKIM_NOT_FOUND: {
    severity: "medium",
    costPoints: 50,
    message:
      "No DKIM key was found under the {n} selectors that were tried. A key under another name cannot be seen.",
  },
  DKIM_REVOKED: {
    severity: "high",
    costPoints: 100,
    lesser: { severity: "low", costPoints: 0 },
    message: "The DKIM key at {selector} is revoked (its p= is empty).",
  },
  // RFC 8301 §3.2: verifiers must not accept such keys.
  DKIM_SHORT: {
    severity: "critical",
    costPoints: 90,
    message: "The DKIM key at {selector} has {bits} bits. Receivers take no key below 1024.",
  },
  DKIM_1024: {
    severity: "medium",
    costPoints: 15,
    message: "The DKIM key at {selector} has {bits} bits, where 2048 are asked for.",
  },
  DKIM_TESTING: {
    severity: "medium",
    costPoints: 15,
    message:
      "The DKIM key at {selector} is in test mode (t=y), so its signatures count for nothing.",
  },
  DKIM_SHA1_ONLY: {
    severity: "high",
    costPoints: 60,
    message: "The DKIM key at {selector} does not allow sha256, the only hash that receivers take.",
  },
  DKIM_BAD_KEY: {
    severity: "high",
    costPoints: 80,
    message: "The DKIM key at {selector} cannot be used: {fault}.",
  },
  // RFC 6376 §3.6.2.2: with several records, the result is undefined.
  DKIM_MULTI_TXT: {
    severity: "medium",
    costPoints: 20,
    message:
      "There is more than one TXT record at {selector}, and receivers cannot tell which is the key.",
  },
  DKIM_ED25519_ONLY: {
    severity: "medium",
    costPoints: 25,
    message:
      "All DKIM keys are Ed25519, which many receivers cannot verify. Sign with RSA as well.",
  },
  DKIM_CNAME_DANGLING: {
    severity: "high",
    costPoints: 60,
    message: "The DKIM selector {selector} is an alias of a name that has no key.",
  },
  DKIM_SERVICE: {
    severity: "high",
    costPoints: 60,
    message: "The DKIM key at {selector} is not for mail (its s= says so).",
  },
  DKIM_INCONCLUSIVE: {
    severity: "info",
    costPoints: 0,
    message: "{n} DNS queries for DKIM keys got no answer.",
  },
} as const satisfies IssueRules<string>;

export const createDkimIssue = createIssueFactory(DKIM_RULES);
