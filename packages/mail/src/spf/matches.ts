import { type Ip, isInBlock, isSameIp, parseIp, toReverseName } from "../ip.ts";
import type { LimitedDns } from "./limits.ts";
import { expandName, listLetters, type MacroString, type MacroValues } from "./macro.ts";
import { isAskable, isAtOrBelow, removeFinalDot } from "./name.ts";
import type { DualLength, SpfMechanism } from "./parse.ts";
import { isStop, type SpfStop, type SpfVerdict, type TermLocation } from "./verdict.ts";

export type SpfCheck = {
  readonly dns: LimitedDns;
  readonly ip: Ip;
  readonly namesMax: number;
  readonly values: Omit<MacroValues, "d" | "p">;
};

export type SpfContext = {
  readonly domain: string;
  readonly checkHost: (domain: string) => Promise<SpfVerdict>;
};

/** A match inside an include names the terms that decided there. */
export type Match = boolean | readonly TermLocation[] | SpfStop | SpfVerdict;

/** RFC 7208 §5: tells whether the host matches, or how the budget or an included record ends the check. */
export const matchMechanism = async (
  check: SpfCheck,
  context: SpfContext,
  mechanism: SpfMechanism,
): Promise<Match> => {
  if (mechanism.kind === "all") return true;
  if ("block" in mechanism) return isInBlock(check.ip, mechanism.block);
  const stop = check.dns.countTerm();
  if (stop) return stop;

  const name = await expandTarget(check, context.domain, mechanism.target);
  if (mechanism.kind === "include") return matchInclude(await context.checkHost(name));
  // RFC 7208 §4.8: such a name cannot have records, so no query is sent and nothing matches.
  if (!isAskable(name)) return false;
  if (mechanism.kind === "a") return hasAddress(check, name, mechanism);
  if (mechanism.kind === "mx") return hasMailHost(check, name, mechanism);
  if (mechanism.kind === "ptr") return isValidatedBelow(check, name);
  // RFC 7208 §5.7: the query is always A, also for a host that connected over IPv6.
  const found = await check.dns.query("A", name);
  return isStop(found) ? found : found.length > 0;
};

export const expandTarget = async (
  check: SpfCheck,
  domain: string,
  target: MacroString | null,
): Promise<string> =>
  target ? expandName(target, await getValues(check, domain, target)) : domain;

/** %{p} costs queries, so it is looked up only where a macro uses it. */
export const getValues = async (
  check: SpfCheck,
  domain: string,
  pieces: MacroString,
): Promise<MacroValues> => {
  const p = listLetters(pieces).includes("p") ? await findValidatedName(check, domain) : "";
  return { ...check.values, d: domain, p };
};

/** The table of RFC 7208 §5.2: only a pass is a match, and an error of the include is an error of the policy. */
const matchInclude = (verdict: SpfVerdict): Match => {
  if (verdict.result === "pass") return verdict.matched;
  if (verdict.result === "none") return { result: "permerror", reason: "include_without_record" };
  return verdict.problem ? verdict : false;
};

const addressType = ({ bits }: Ip) => (bits === 32 ? "A" : "AAAA");

const hasAddress = async (
  { dns, ip }: SpfCheck,
  name: string,
  { length4, length6 }: DualLength,
): Promise<boolean | SpfStop> => {
  const found = await dns.query(addressType(ip), name);
  if (isStop(found)) return found;
  const length = ip.bits === 32 ? length4 : length6;
  return found.some((text) => {
    const base = parseIp(text);
    return base !== undefined && isInBlock(ip, { base, length });
  });
};

const hasMailHost = async (
  check: SpfCheck,
  name: string,
  lengths: DualLength,
): Promise<boolean | SpfStop> => {
  const found = await check.dns.query("MX", name);
  if (isStop(found)) return found;
  // RFC 7208 §4.6.4. The limit holds even when one of the first names would match, because their order is random.
  if (found.length > check.namesMax) return { result: "permerror", reason: "too_many_mx_names" };
  for (const { exchange } of found) {
    const host = removeFinalDot(exchange);
    // A null MX (RFC 7505) names no host.
    const match = isAskable(host) && (await hasAddress(check, host, lengths));
    if (match) return match;
  }
  return false;
};

/** RFC 7208 §5.5: checks the host's names that resolve back to it. A failed query is neither a match nor an error. */
const isValidatedBelow = async (check: SpfCheck, target: string): Promise<boolean | SpfStop> => {
  const outcome = await check.dns.queryUnlimited("PTR", toReverseName(check.ip));
  const counted = check.dns.judge(outcome);
  if (isStop(counted)) return counted.result === "permerror" ? counted : false;
  const names = toNames(check, counted).filter((name) => isAtOrBelow(name, target));
  return (await findFirstValid(check, names)) !== undefined;
};

/** RFC 7208 §7.3: prefers the domain itself to a subdomain, and a subdomain to any other name. */
const findValidatedName = async (check: SpfCheck, domain: string): Promise<string> => {
  const outcome = await check.dns.queryUnlimited("PTR", toReverseName(check.ip));
  const names = outcome.kind === "ok" ? toNames(check, outcome.records) : [];
  const isSame = (name: string) => name.toLowerCase() === domain.toLowerCase();
  const isBelow = (name: string) => isAtOrBelow(name, domain) && !isSame(name);
  const isOther = (name: string) => !isAtOrBelow(name, domain);
  const ordered = [isSame, isBelow, isOther].flatMap((rank) => names.filter(rank));
  return (await findFirstValid(check, ordered)) ?? "unknown";
};

const toNames = ({ namesMax }: SpfCheck, records: readonly string[]): readonly string[] =>
  records.slice(0, namesMax).map(removeFinalDot).filter(isAskable);

const findFirstValid = async (
  { dns, ip }: SpfCheck,
  names: readonly string[],
): Promise<string | undefined> => {
  for (const name of names) {
    // The sender's host determines the name, so a void look-up does not count against the domain.
    const outcome = await dns.queryUnlimited(addressType(ip), name);
    const texts: readonly string[] = outcome.kind === "ok" ? outcome.records : [];
    if (texts.some((text) => isSameIp(parseIp(text), ip))) return name;
  }
  return undefined;
};
