import { compareGravity, type Issue } from "../issue.ts";
import { critical, high, INFO, type IssueRule, low, medium } from "../issue-rules.ts";
import { shortenText } from "./verdict.ts";

type SpfRuleEntry = Omit<IssueRule, "lesser"> & { readonly id?: string };

export const SPF_RULES = {
  SPF_MISSING: {
    ...high(100),
    message:
      "{domain} has no SPF record. Publish one TXT record that starts with v=spf1, lists your senders and ends with ~all or -all.",
  },
  SPF_MULTIPLE: {
    ...critical(100),
    message:
      "{domain} has {count} SPF records, and receivers take that for an error. Merge them into one.",
  },
  SPF_SYNTAX: {
    ...critical(80),
    message:
      'The SPF record of {domain} cannot be read at "{term}": {reason}. Until it is mended, every check of it fails.',
  },
  SPF_LOOKUPS_GT_10: {
    ...critical(70),
    message:
      "The SPF record of {domain} needs up to {lookups} DNS look-ups; receivers stop at {limit}. Remove unused includes, or use ip4 and ip6 instead.",
  },
  SPF_LOOKUPS_8_10: {
    ...low(5),
    message:
      "The SPF record of {domain} needs up to {lookups} DNS look-ups of the {limit} that receivers make. One more service may be too many.",
  },
  SPF_VOID_GT_2: {
    ...high(40),
    message:
      "The SPF record of {domain} asks for {void_lookups} names that do not exist or have no address; receivers stop after {limit}. Remove those terms.",
  },
  SPF_MX_GT_10: {
    ...high(40),
    message:
      "{host} has {count} MX records, and receivers take more than {limit} for an error. Write the hosts as ip4 and ip6 instead of {term}.",
  },
  SPF_PTR_GT_10: {
    ...high(40),
    message:
      "{ip} has {count} names, of which receivers look at {limit}, so {term} may not find yours. Write ip4 instead.",
  },
  SPF_INCLUDE_NONE: {
    ...critical(70),
    message:
      "{target} has no SPF record, so {term} in the record of {domain} makes every check that comes to it fail. Remove it.",
  },
  SPF_DANGLING_INCLUDE: {
    ...high(70),
    message:
      "{target} does not exist, so {term} in the record of {domain} makes every SPF evaluation that reaches it fail, and a third party could register the name and send as you. Remove it.",
  },
  SPF_REDIRECT_NONE: {
    ...critical(70),
    message:
      "{target} has no SPF record, so {term} in the record of {domain} makes every check that comes to it fail.",
  },
  SPF_LOOP: {
    ...critical(80),
    message:
      "{term} in the record of {domain} refers back to a record above it, until receivers give up. Remove it.",
  },
  SPF_PLUS_ALL: {
    ...critical(90),
    message:
      "The SPF record of {domain} allows every host on the internet to send, by {term} in the record of {by}. End it in ~all or -all.",
  },
  SPF_NEUTRAL_ALL: {
    ...medium(30),
    message:
      "The SPF record of {domain} says nothing about hosts it does not list. End it in ~all or -all.",
  },
  SPF_SOFTFAIL: {
    ...INFO,
    message:
      "The SPF record of {domain} ends in ~all. That is fine with a DMARC policy of quarantine or reject; use -all only when your mail is never forwarded.",
  },
  // Only the domain's DMARC record decides between this rule and SPF_SOFTFAIL.
  SPF_SOFTFAIL_ALONE: {
    id: "SPF_SOFTFAIL",
    ...low(5),
    message:
      "The SPF record of {domain} ends in ~all, and no DMARC policy makes anything of it. Let DMARC enforce, or end in -all.",
  },
  SPF_TERMS_AFTER_ALL: {
    ...low(5),
    message:
      "Receivers ignore {term} in the record of {domain}, because the record has an all. Move it before the all, or remove it.",
  },
  SPF_PTR: {
    ...medium(10),
    message:
      "{term} in the record of {domain} is slow and unreliable, and many receivers ignore it (RFC 7208 §5.5). Write ip4 and ip6 instead.",
  },
  SPF_DUP_INCLUDE: {
    ...low(3),
    message:
      "{term} stands more than once in the record of {domain}. Each time costs its look-ups again.",
  },
  SPF_LONG: {
    ...low(3),
    message:
      "The SPF record of {domain} is {bytes} bytes long. Above 450 it may not fit into one UDP answer with your other TXT records.",
  },
  SPF_VERY_LONG: {
    id: "SPF_LONG",
    ...medium(8),
    message:
      "The SPF record of {domain} is {bytes} bytes long, which no UDP answer of 512 bytes can hold. Some receivers will not get it.",
  },
  SPF_SENDERID: {
    ...INFO,
    message:
      "{domain} still has a Sender ID record (spf2.0), which receivers no longer read (RFC 6686). Remove it.",
  },
  SPF_WIDE_CIDR: {
    ...medium(15),
    message:
      "{term} in the record of {domain} allows more than 65,536 addresses. Keep to those that send your mail.",
  },
  SPF_WIDE_CIDR_INCLUDED: {
    id: "SPF_WIDE_CIDR",
    ...INFO,
    message:
      "{term} in the record of {domain}, which yours includes, allows more than 65,536 addresses. Only its owner can narrow that.",
  },
  SPF_WIDE_CIDR_UNOWNED: {
    id: "SPF_WIDE_CIDR",
    ...critical(90),
    message:
      "{term} in the record of {domain} allows more IP addresses than any organisation owns, so third parties can send. Limit it to the addresses that send your mail.",
  },
  SPF_MACRO: {
    ...INFO,
    message:
      "{term} in the record of {domain} means something else for every mail, so what is behind it could not be looked at.",
  },
  SPF_IP_NOT_COVERED: {
    ...high(40),
    message:
      "SPF does not let {ip} send for {domain}: the result is {result}. Add it to the record, or send from elsewhere.",
  },
  SPF_TEMPERROR: {
    ...INFO,
    message:
      "{host} could not be looked up ({reason}), so the SPF record of {domain} has no score. Receivers put such mail off; try again.",
  },
} as const satisfies Readonly<Record<string, SpfRuleEntry>>;

export type SpfRule = keyof typeof SPF_RULES;

export type SpfFinding = { readonly rule: SpfRule; readonly detail: Issue["detail"] };

/** A hostile record can break a rule a thousand times. A report shows at most ten issues of one rule. */
const FINDINGS_MAX = 10;

/**
 * Sorts the most severe issues first. A rule that is broken several times costs once, at its highest cost, and its first issue carries the
 * cost: the costs of all issues add up to the points that the score lost.
 */
export const createSpfIssues = (findings: readonly SpfFinding[]): readonly Issue[] => {
  const unique = new Map<string, number>();
  return findings
    .toSorted((one, other) => compareGravity(SPF_RULES[one.rule], SPF_RULES[other.rule]))
    .flatMap(({ rule, detail }) => {
      const { id = rule, severity, costPoints, message }: SpfRuleEntry = SPF_RULES[rule];
      const before = unique.get(id) ?? 0;
      unique.set(id, before + 1);
      if (before >= FINDINGS_MAX) return [];
      const reported = clipDetail(detail);
      const cost = before === 0 ? costPoints : 0;
      return [
        {
          id,
          severity,
          message: fillMessage(message, reported),
          detail: reported,
          costPoints: cost,
        },
      ];
    });
};

const clipDetail = (detail: Issue["detail"]): Issue["detail"] =>
  Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [
      name,
      typeof value === "string" ? shortenText(value) : value,
    ]),
  );

const fillMessage = (message: string, detail: Issue["detail"]): string =>
  message.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(detail[name] ?? ""));
