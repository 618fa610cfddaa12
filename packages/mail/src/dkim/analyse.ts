import { type Dns, type DnsOutcome, getRecords, isAbsent, isFault } from "../dns/dns.ts";
import type { Issue } from "../issue.ts";
import {
  createIssueFactory,
  critical,
  high,
  INFO,
  type IssueRules,
  type IssueStatus,
  joinNames,
  low,
  medium,
  scoreIssues,
  toStatus,
} from "../issue-rules.ts";
import { type DkimKey, parseDkimKey, STRONG_FROM_BITS } from "./key.ts";
import {
  type DkimTraces,
  listLikeliestSelectors,
  listLikelySelectors,
  listSelectors,
} from "./selectors.ts";

export const DKIM_RULES = {
  // RFC 8020: no name exists below a name that does not exist. The check asked for the likeliest keys nevertheless.
  DKIM_NXDOMAIN: {
    ...high(100),
    message:
      "{domain} has no DKIM key: _domainkey.{domain} does not exist, and neither does any of the {n} likeliest keys.",
  },
  DKIM_NOT_FOUND: {
    ...medium(50),
    message:
      "No DKIM key was found under the {n} selectors that were tried. A key under another name cannot be seen.",
  },
  DKIM_REVOKED: {
    ...high(100),
    lesser: low(0),
    message: "The DKIM key at {selector} is revoked (its p= is empty).",
  },
  // RFC 8301 §3.2: verifiers must not accept such keys.
  DKIM_SHORT: {
    ...critical(90),
    message: "The DKIM key at {selector} has {bits} bits. Receivers take no key below 1024.",
  },
  DKIM_1024: {
    ...medium(15),
    message: "The DKIM key at {selector} has {bits} bits, where 2048 are asked for.",
  },
  DKIM_TESTING: {
    ...medium(15),
    message:
      "The DKIM key at {selector} is in test mode (t=y), so its signatures count for nothing.",
  },
  DKIM_SHA1_ONLY: {
    ...high(60),
    message: "The DKIM key at {selector} does not allow sha256, the only hash that receivers take.",
  },
  DKIM_BAD_KEY: {
    ...high(80),
    message: "The DKIM key at {selector} cannot be used: {fault}.",
  },
  // RFC 6376 §3.6.2.2: with several records, the result is undefined.
  DKIM_MULTI_TXT: {
    ...medium(20),
    message:
      "There is more than one TXT record at {selector}, and receivers cannot tell which is the key.",
  },
  DKIM_ED25519_ONLY: {
    ...medium(25),
    message:
      "All DKIM keys are Ed25519, which many receivers cannot verify. Sign with RSA as well.",
  },
  DKIM_CNAME_DANGLING: {
    ...high(60),
    message: "The DKIM selector {selector} is an alias of a name that has no key.",
  },
  DKIM_SERVICE: {
    ...high(60),
    message: "The DKIM key at {selector} is not for mail (its s= says so).",
  },
  DKIM_INCONCLUSIVE: {
    ...INFO,
    message: "{n} DNS queries for DKIM keys got no answer.",
  },
} as const satisfies IssueRules<string>;

export const createDkimIssue = createIssueFactory(DKIM_RULES);

export type DkimAnalysis = {
  /** `missing` is proven. `unknown` means that no key was found, which proves nothing. */
  readonly status: IssueStatus | "missing" | "unknown" | "error";
  readonly selectorsFound: readonly string[];
  readonly score: number | null;
  readonly issues: readonly Issue[];
};

type DkimInput = DkimTraces & {
  readonly domain: string;
  /** A random name that no zone has: when DNS answers it with a record, the zone has a wildcard. */
  readonly randomLabel: string;
};

const ALIASES_MAX = 12;

/**
 * Finds the keys that a domain signs with, as far as their selectors can be guessed: only signatures name a selector. A found key is a
 * fact; finding no key never proves "no DKIM".
 */
export const analyseDkim = async (dns: Dns, input: DkimInput): Promise<DkimAnalysis> => {
  const { domain, randomLabel } = input;
  const at = (selector: string) => `${selector}._domainkey.${domain}`;
  const [parent, guard] = await Promise.all([
    dns("TXT", `_domainkey.${domain}`),
    dns("TXT", at(randomLabel)),
  ]);
  const askAll = (names: readonly string[]) =>
    Promise.all(
      names.map(async (selector) => ({ selector, outcome: await dns("TXT", at(selector)) })),
    );
  if (parent.kind === "nxdomain" && guard.kind !== "ok") {
    // By RFC 8020 no name exists below that name. But some name servers wrongly deny a name without records of its own, and still answer
    // for the names below it.
    const likeliest = await askAll(listLikeliestSelectors(input));
    if (likeliest.every(({ outcome }) => outcome.kind === "nxdomain" || isFault(outcome)))
      return judgeDenied(domain, likeliest);
  }
  if (isFault(parent) && isFault(guard)) return judgeKeys([], [], { tried: 0, unanswered: 2 });

  const selectors = listSelectors(input);
  const answers = await askAll(selectors);
  const found = answers.flatMap(({ selector, outcome }) => findKey(selector, outcome, guard));
  const unanswered = answers.filter(({ outcome }) => isFault(outcome)).length;

  const likely = new Set(listLikelySelectors(input));
  const absent = answers.filter(({ outcome }) => isAbsent(outcome));
  const isSuspect = ({ selector, outcome }: SelectorAnswer) =>
    likely.has(selector) || outcome.kind === "nodata";
  // An alias whose target does not exist looks like a missing name, and may be the reason for the missing key.
  const others = found.length === 0 ? absent.filter((answer) => !isSuspect(answer)) : [];
  const suspects = [...absent.filter(isSuspect), ...others].map(({ selector }) => selector);
  const dangling = await findDangling(dns, suspects, at);
  const mayBeWild = isFault(guard) && !answers.some(({ outcome }) => isAbsent(outcome));
  return judgeKeys(mayBeWild ? [] : found, dangling, {
    tried: selectors.length,
    unanswered: unanswered + (mayBeWild ? 1 : 0),
  });
};

type SelectorAnswer = { readonly selector: string; readonly outcome: DnsOutcome<string> };

/** Judges a domain whose DNS denies the parent of all keys, and the likeliest keys as far as the name servers answered. */
const judgeDenied = (domain: string, answers: readonly SelectorAnswer[]): DkimAnalysis => {
  const tried = answers.length;
  const unanswered = answers.filter(({ outcome }) => isFault(outcome)).length;
  if (unanswered > 0) return judgeKeys([], [], { tried, unanswered });
  const issues = [createDkimIssue("DKIM_NXDOMAIN", { domain, n: tried })];
  return { status: "missing", selectorsFound: [], score: 0, issues };
};

type FoundKey = { readonly selector: string; readonly key: DkimKey; readonly isAlone: boolean };

const findKey = (
  selector: string,
  outcome: DnsOutcome<string>,
  guard: DnsOutcome<string>,
): readonly FoundKey[] => {
  const wild = new Set(getRecords(guard));
  const records = getRecords(outcome);
  const own = records.filter((text) => !wild.has(text));
  const key = own.map(parseDkimKey).find((parsed) => parsed !== undefined);
  return key ? [{ selector, key, isAlone: records.length === 1 }] : [];
};

const findDangling = async (
  dns: Dns,
  selectors: readonly string[],
  at: (selector: string) => string,
): Promise<readonly string[]> => {
  const aliases = await Promise.all(
    selectors.slice(0, ALIASES_MAX).map(async (selector) => ({
      selector,
      alias: await dns("CNAME", at(selector)),
    })),
  );
  return aliases.filter(({ alias }) => alias.kind === "ok").map(({ selector }) => selector);
};

const judgeKeys = (
  found: readonly FoundKey[],
  dangling: readonly string[],
  { tried, unanswered }: { readonly tried: number; readonly unanswered: number },
): DkimAnalysis => {
  const live = found.filter(isLive);
  // A missing key costs points only when every query was answered: an unanswered query may hide a valid key.
  const mayHaveMore = unanswered > 0;
  const issues = [
    ...(found.length === 0 && !mayHaveMore
      ? [createDkimIssue("DKIM_NOT_FOUND", { n: tried })]
      : []),
    ...createKeyIssues(found, live.length > 0 || mayHaveMore),
    ...(live.length > 0 && live.every(({ key }) => key.kind === "ed25519") && !mayHaveMore
      ? [createDkimIssue("DKIM_ED25519_ONLY")]
      : []),
    ...(dangling.length > 0
      ? [createDkimIssue("DKIM_CNAME_DANGLING", { selector: joinNames(dangling) })]
      : []),
    ...(mayHaveMore ? [createDkimIssue("DKIM_INCONCLUSIVE", { n: unanswered })] : []),
  ];
  const isOpen = live.length === 0 && mayHaveMore;
  return {
    status: isOpen ? "error" : found.length === 0 ? "unknown" : toStatus(issues),
    selectorsFound: found.map(({ selector }) => selector),
    score: isOpen ? null : scoreIssues(issues),
    issues,
  };
};

const SHORT_BELOW = 1024;

const isShort = ({ bits }: DkimKey): boolean => bits !== null && bits < SHORT_BELOW;

const isLive = ({ key }: FoundKey): boolean =>
  key.kind === "ed25519" || (key.kind === "rsa" && !isShort(key));

const KEY_RULES: readonly (readonly [
  id:
    | "DKIM_SHORT"
    | "DKIM_1024"
    | "DKIM_TESTING"
    | "DKIM_SHA1_ONLY"
    | "DKIM_BAD_KEY"
    | "DKIM_MULTI_TXT"
    | "DKIM_SERVICE",
  holds: (found: FoundKey) => boolean,
])[] = [
  ["DKIM_SHORT", ({ key }) => isShort(key)],
  ["DKIM_1024", ({ key }) => key.bits !== null && key.bits < STRONG_FROM_BITS && !isShort(key)],
  ["DKIM_TESTING", ({ key }) => key.isTesting && key.kind !== "revoked"],
  ["DKIM_SHA1_ONLY", ({ key }) => !key.allowsSha256 && key.kind !== "revoked"],
  ["DKIM_BAD_KEY", ({ key }) => key.kind === "broken"],
  ["DKIM_MULTI_TXT", ({ isAlone }) => !isAlone],
  ["DKIM_SERVICE", ({ key }) => !key.isForMail && key.kind !== "revoked"],
];

/** Creates one issue per rule for any number of keys: rotation leaves old keys behind. */
const createKeyIssues = (found: readonly FoundKey[], isOtherGood: boolean): readonly Issue[] => {
  const revoked = found.filter(({ key }) => key.kind === "revoked");
  const isOnlyKey = revoked.length === found.length && !isOtherGood;
  return [
    ...KEY_RULES.flatMap(([id, holds]) => {
      const keys = found.filter(holds);
      return keys.length > 0 ? [createDkimIssue(id, createDetail(keys))] : [];
    }),
    ...(revoked.length > 0
      ? [createDkimIssue("DKIM_REVOKED", createDetail(revoked), isOnlyKey ? "full" : "lesser")]
      : []),
  ];
};

const createDetail = (found: readonly FoundKey[]): Issue["detail"] => {
  const keys = found.map(({ key }) => key);
  const bits = Math.min(...keys.map((key) => key.bits ?? Number.POSITIVE_INFINITY));
  const fault = keys.find((key) => key.fault !== null)?.fault;
  return {
    selector: joinNames(found.map(({ selector }) => selector)),
    ...(Number.isFinite(bits) && { bits }),
    ...(fault && { fault }),
  };
};
