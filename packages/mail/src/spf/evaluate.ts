import { parseLiteral } from "../address-literal.ts";
import type { Dns } from "../dns/dns.ts";
import { type Ip, parseIp, toReverseLabels } from "../ip.ts";
import {
  cacheQuestions,
  createLimitedDns,
  type LimitedDns,
  SPF_LIMITS,
  type SpfLimits,
} from "./limits.ts";
import { expand, type MacroString, parseMacroString } from "./macro.ts";
import { expandTarget, getValues, type Match, matchMechanism, type SpfCheck } from "./matches.ts";
import { isAskable, isDomain, removeFinalDot } from "./name.ts";
import { parseSpf, type SpfModifier } from "./parse.ts";
import { findPublished } from "./published.ts";
import {
  isStop,
  RESULT_OF,
  type SpfResult,
  type SpfVerdict,
  type TermLocation,
  toLocation,
  toStoppedVerdict,
} from "./verdict.ts";

type SpfQuery = {
  readonly ip: string;
  /** The domain whose policy is evaluated, in A-labels: the domain of MAIL FROM, or of HELO when MAIL FROM is empty. */
  readonly domain: string;
  readonly sender: string;
  readonly helo: string;
  /** The checking host and the time. Only explanations use them. */
  readonly receiver?: string;
  readonly epochSeconds?: number;
};

/** Turns a query into the values of the macros (RFC 7208 §7.2). */
const createCheck = (
  { ip: text, sender, helo, receiver, epochSeconds }: SpfQuery,
  dns: LimitedDns,
  { namesMax }: SpfLimits,
): SpfCheck => {
  const read = parseIp(text);
  if (!read) throw new Error(`${text} is no IP address`);
  const ip = removeMapping(read);
  const { local, domain } = splitMailbox(sender === "" ? helo : sender);
  return {
    dns,
    ip,
    namesMax,
    values: {
      s: `${local}@${domain}`,
      l: local,
      o: domain,
      i: ip.bits === 32 ? formatIpv4(ip) : formatIpv4(ip).toUpperCase(),
      v: ip.bits === 32 ? "in-addr" : "ip6",
      h: helo,
      c: ip.bits === 32 ? formatIpv4(ip) : formatIpv6(ip),
      r: receiver ?? "unknown",
      t: String(epochSeconds ?? 0),
    },
  };
};

/** RFC 7208 §2.4, §4.3: a sender without a local part, such as a HELO name, gets the local part postmaster. */
const splitMailbox = (sender: string) => {
  const at = sender.lastIndexOf("@");
  return { local: sender.slice(0, Math.max(at, 0)) || "postmaster", domain: sender.slice(at + 1) };
};

/** RFC 7208 §5: an IPv4-mapped address is the IPv4 address inside it. */
const removeMapping = (ip: Ip): Ip =>
  ip.bits === 128 && ip.value >> 32n === 0xffffn
    ? { bits: 32, value: ip.value & 0xffff_ffffn }
    : ip;

const formatIpv4 = (ip: Ip): string => toReverseLabels(ip).split(".").toReversed().join(".");

const formatIpv6 = (ip: Ip): string => {
  const groups = ip.value.toString(16).padStart(32, "0").match(/.{4}/g) ?? [];
  return parseLiteral(`IPv6:${groups.join(":")}`)?.ip ?? "";
};

export type SpfEvaluation = SpfVerdict & {
  /** The domain owner's explanation of a refusal. It is external text, which we must not show as ours. */
  readonly explanation: string | null;
  readonly lookups: number;
  readonly voidLookups: number;
};

/** check_host() of RFC 7208 §4: may this host send mail in this domain's name? */
export const evaluateSpf = async (
  dns: Dns,
  query: SpfQuery,
  limits: SpfLimits = SPF_LIMITS,
): Promise<SpfEvaluation> => {
  const limited = createLimitedDns(cacheQuestions(dns), limits);
  const check = createCheck(query, limited, limits);
  const { explain, ...verdict } = await checkHost(check, removeFinalDot(query.domain));
  const explanation =
    explain && verdict.result === "fail" ? await readExplanation(check, explain) : null;
  return { ...verdict, explanation, ...limited.counted() };
};

type ExplainedVerdict = SpfVerdict & {
  readonly explain?: { readonly domain: string; readonly target: MacroString };
};

const NONE: SpfVerdict = { result: "none", matched: [], problem: null };
/** RFC 7208 §4.7: a policy in which nothing matches is neutral. */
const NEUTRAL: SpfVerdict = { ...NONE, result: "neutral" };

const checkHost = async (check: SpfCheck, domain: string): Promise<ExplainedVerdict> => {
  if (!isDomain(domain)) return NONE;
  const published = findPublished(await check.dns.queryUnlimited("TXT", domain));
  if (published.kind === "none" || published.kind === "nxdomain") return NONE;
  if (published.kind === "several")
    return toStoppedVerdict({ result: "permerror", reason: "several_records" }, domain);
  if (published.kind !== "record")
    return toStoppedVerdict({ result: "temperror", reason: published.kind }, domain);

  const { faults, directives, redirect, exp } = parseSpf(published.text);
  // RFC 7208 §4.6: a syntax fault anywhere comes before any evaluation.
  const [fault] = faults;
  if (fault) return toStoppedVerdict({ result: "permerror", reason: "syntax" }, domain, fault.term);

  const here = { domain, checkHost: (name: string) => checkHost(check, name) };
  for (const { qualifier, mechanism, term } of directives) {
    const match = await matchMechanism(check, here, mechanism);
    const verdict = createVerdict(match, RESULT_OF[qualifier], toLocation(domain, term));
    if (verdict) return exp ? { ...verdict, explain: { domain, target: exp.target } } : verdict;
  }
  // RFC 7208 §5.1: an "all" has matched by now, so a redirect in the same record is never followed.
  return redirect ? followRedirect(check, domain, redirect) : NEUTRAL;
};

const createVerdict = (
  match: Match,
  result: SpfResult,
  location: TermLocation,
): SpfVerdict | undefined => {
  if (match === false) return undefined;
  if (match === true) return { result, matched: [location], problem: null };
  if ("result" in match)
    return isStop(match) ? toStoppedVerdict(match, location.domain, location.term) : match;
  return { result, matched: [location, ...match], problem: null };
};

/** RFC 7208 §6.1: the result and the explanation are those of the other domain, which must have a record. */
const followRedirect = async (
  check: SpfCheck,
  domain: string,
  { target, term }: SpfModifier,
): Promise<ExplainedVerdict> => {
  const stop = check.dns.countTerm();
  if (stop) return toStoppedVerdict(stop, domain, term);
  const verdict = await checkHost(check, await expandTarget(check, domain, target));
  return verdict.result === "none"
    ? toStoppedVerdict({ result: "permerror", reason: "redirect_without_record" }, domain, term)
    : verdict;
};

/** A reply line that carries an explanation is never longer (RFC 5321 §4.5.3.1.5). */
const EXPLANATION_MAX = 512;

/** RFC 7208 §6.2: an error of the look-up keeps the result; only the explanation is missing. */
const readExplanation = async (
  check: SpfCheck,
  { domain, target }: NonNullable<ExplainedVerdict["explain"]>,
): Promise<string | null> => {
  const name = await expandTarget(check, domain, target);
  if (!isAskable(name)) return null;
  const outcome = await check.dns.queryUnlimited("TXT", name);
  if (outcome.kind !== "ok" || outcome.records.length !== 1) return null;
  const pieces = parseMacroString(outcome.records[0] ?? "", "explanation");
  if (!pieces) return null;
  return expand(pieces, await getValues(check, domain, pieces)).slice(0, EXPLANATION_MAX);
};
