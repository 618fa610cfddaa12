import type { Dns } from "../dns/dns.ts";
import { checkFor, type SpfQuery } from "./check.ts";
import { askingOnce, limitedDns, SPF_LIMITS, type SpfLimits } from "./limits.ts";
import { expand, type MacroString, parseMacroString } from "./macro.ts";
import { type Check, type Match, matches, nameAt, valuesAt } from "./matches.ts";
import { isAskable, isDomain, withoutFinalDot } from "./name.ts";
import { type Modifier, parseSpf } from "./parse.ts";
import { publishedIn } from "./published.ts";
import {
  isStop,
  type Place,
  placeOf,
  RESULT_OF,
  type SpfResult,
  stopped,
  type Verdict,
} from "./verdict.ts";

export type SpfEvaluation = Verdict & {
  /** Words of the domain's owner for the refused: a stranger's words, and not to be shown as ours. */
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
  const limited = limitedDns(askingOnce(dns), limits);
  const check = checkFor(query, limited, limits);
  const { explain, ...verdict } = await checkHost(check, withoutFinalDot(query.domain));
  const explanation = explain && verdict.result === "fail" ? await read(check, explain) : null;
  return { ...verdict, explanation, ...limited.counted() };
};

type Explained = Verdict & {
  readonly explain?: { readonly domain: string; readonly target: MacroString };
};

const NONE: Verdict = { result: "none", matched: [], problem: null };
/** §4.7. */
const NEUTRAL: Verdict = { ...NONE, result: "neutral" };

const checkHost = async (check: Check, domain: string): Promise<Explained> => {
  if (!isDomain(domain)) return NONE;
  const published = publishedIn(await check.dns.askFreely("TXT", domain));
  if (published.kind === "none" || published.kind === "nxdomain") return NONE;
  if (published.kind === "several")
    return stopped({ result: "permerror", reason: "several_records" }, domain);
  if (published.kind !== "record")
    return stopped({ result: "temperror", reason: published.kind }, domain);

  const { faults, directives, redirect, exp } = parseSpf(published.text);
  // §4.6: a fault anywhere is found before anything is evaluated.
  const [fault] = faults;
  if (fault) return stopped({ result: "permerror", reason: "syntax" }, domain, fault.term);

  const here = { domain, checkHost: (name: string) => checkHost(check, name) };
  for (const { qualifier, mechanism, term } of directives) {
    const match = await matches(check, here, mechanism);
    const verdict = decided(match, RESULT_OF[qualifier], placeOf(domain, term));
    if (verdict) return exp ? { ...verdict, explain: { domain, target: exp.target } } : verdict;
  }
  // §5.1: where there is an "all" it has matched by now, so a redirect beside it is never followed.
  return redirect ? follow(check, domain, redirect) : NEUTRAL;
};

const decided = (match: Match, result: SpfResult, place: Place): Verdict | undefined => {
  if (match === false) return undefined;
  if (match === true) return { result, matched: [place], problem: null };
  if ("result" in match) return isStop(match) ? stopped(match, place.domain, place.term) : match;
  return { result, matched: [place, ...match], problem: null };
};

/** §6.1: the other domain's verdict is ours, explanation included, but a record it must have. */
const follow = async (
  check: Check,
  domain: string,
  { target, term }: Modifier,
): Promise<Explained> => {
  const stop = check.dns.countTerm();
  if (stop) return stopped(stop, domain, term);
  const verdict = await checkHost(check, await nameAt(check, domain, target));
  return verdict.result === "none"
    ? stopped({ result: "permerror", reason: "redirect_without_record" }, domain, term)
    : verdict;
};

/** No reply that could carry one is longer (RFC 5321 §4.5.3.1.5). */
const EXPLANATION_MAX = 512;

/** §6.2: whatever goes wrong here, the verdict stands and only the explanation is missing. */
const read = async (
  check: Check,
  { domain, target }: NonNullable<Explained["explain"]>,
): Promise<string | null> => {
  const name = await nameAt(check, domain, target);
  if (!isAskable(name)) return null;
  const outcome = await check.dns.askFreely("TXT", name);
  if (outcome.kind !== "ok" || outcome.records.length !== 1) return null;
  const pieces = parseMacroString(outcome.records[0] ?? "", "explanation");
  if (!pieces) return null;
  return expand(pieces, await valuesAt(check, domain, pieces)).slice(0, EXPLANATION_MAX);
};
