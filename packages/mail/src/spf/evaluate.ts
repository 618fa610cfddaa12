import type { Dns } from "../dns/dns.ts";
import { createCheck, type SpfQuery } from "./check.ts";
import { cacheQuestions, createLimitedDns, SPF_LIMITS, type SpfLimits } from "./limits.ts";
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
