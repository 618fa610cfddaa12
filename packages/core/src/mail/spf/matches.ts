import { type Ip, isSameIp, isWithin, parseIp, reverseName } from "../ip.ts";
import type { LimitedDns } from "./limits.ts";
import { expandName, lettersIn, type MacroString, type MacroValues } from "./macro.ts";
import { isAskable, isAtOrBelow, withoutFinalDot } from "./name.ts";
import type { DualLength, Mechanism } from "./parse.ts";
import { isStop, type Place, type Stop, type Verdict } from "./verdict.ts";

/** What stays the same through all the records of one check. */
export type Check = {
  readonly dns: LimitedDns;
  readonly ip: Ip;
  readonly namesMax: number;
  /** All but %{d} and %{p}, which depend on whose record is read. */
  readonly values: Omit<MacroValues, "d" | "p">;
};

/** Whose record a mechanism stands in, and how another domain is checked for it. */
export type Here = {
  readonly domain: string;
  readonly checkHost: (domain: string) => Promise<Verdict>;
};

/** A match inside an include names the terms that decided there. */
export type Match = boolean | readonly Place[] | Stop | Verdict;

/** RFC 7208 §5: does the host match? Or the end of the whole check, from the budget or from an included record. */
export const matches = async (check: Check, here: Here, mechanism: Mechanism): Promise<Match> => {
  if (mechanism.kind === "all") return true;
  if ("block" in mechanism) return isWithin(check.ip, mechanism.block);
  const stop = check.dns.countTerm();
  if (stop) return stop;

  const name = await nameAt(check, here.domain, mechanism.target);
  if (mechanism.kind === "include") return include(await here.checkHost(name));
  // §4.8: such a name cannot have records, so nothing is asked and nothing matches.
  if (!isAskable(name)) return false;
  if (mechanism.kind === "a") return hasAddress(check, name, mechanism);
  if (mechanism.kind === "mx") return hasMailHost(check, name, mechanism);
  if (mechanism.kind === "ptr") return isNamedBelow(check, name);
  // §5.7: always A, also for a host that came over IPv6.
  const found = await check.dns.ask("A", name);
  return isStop(found) ? found : found.length > 0;
};

export const nameAt = async (
  check: Check,
  domain: string,
  target: MacroString | null,
): Promise<string> => (target ? expandName(target, await valuesAt(check, domain, target)) : domain);

/** %{p} costs questions, so it is found out only where it is used. */
export const valuesAt = async (
  check: Check,
  domain: string,
  pieces: MacroString,
): Promise<MacroValues> => {
  const p = lettersIn(pieces).includes("p") ? await validatedName(check, domain) : "";
  return { ...check.values, d: domain, p };
};

/** The table of §5.2: only a pass is a match, and an error there is an error here. */
const include = (verdict: Verdict): Match => {
  if (verdict.result === "pass") return verdict.matched;
  if (verdict.result === "none") return { result: "permerror", reason: "include_without_record" };
  return verdict.problem ? verdict : false;
};

const addressType = ({ bits }: Ip) => (bits === 32 ? "A" : "AAAA");

const hasAddress = async (
  { dns, ip }: Check,
  name: string,
  { length4, length6 }: DualLength,
): Promise<boolean | Stop> => {
  const found = await dns.ask(addressType(ip), name);
  if (isStop(found)) return found;
  const length = ip.bits === 32 ? length4 : length6;
  return found.some((text) => {
    const base = parseIp(text);
    return base !== undefined && isWithin(ip, { base, length });
  });
};

const hasMailHost = async (
  check: Check,
  name: string,
  lengths: DualLength,
): Promise<boolean | Stop> => {
  const found = await check.dns.ask("MX", name);
  if (isStop(found)) return found;
  // §4.6.4. Even when an early one would match: which are early is up to chance.
  if (found.length > check.namesMax) return { result: "permerror", reason: "too_many_mx_names" };
  for (const { exchange } of found) {
    const host = withoutFinalDot(exchange);
    // A null MX (RFC 7505) names no host.
    const match = isAskable(host) && (await hasAddress(check, host, lengths));
    if (match) return match;
  }
  return false;
};

/** §5.5: the host's own names, of which each must lead back to it. What fails here is no match and no error. */
const isNamedBelow = async (check: Check, target: string): Promise<boolean | Stop> => {
  const outcome = await check.dns.askFreely("PTR", reverseName(check.ip));
  const counted = check.dns.judge(outcome);
  if (isStop(counted)) return counted.result === "permerror" ? counted : false;
  const names = namesOf(check, counted).filter((name) => isAtOrBelow(name, target));
  return (await firstValid(check, names)) !== undefined;
};

/** §7.3: the domain itself rather than one below it, and one below it rather than any other. */
const validatedName = async (check: Check, domain: string): Promise<string> => {
  const outcome = await check.dns.askFreely("PTR", reverseName(check.ip));
  const names = outcome.kind === "ok" ? namesOf(check, outcome.records) : [];
  const isSame = (name: string) => name.toLowerCase() === domain.toLowerCase();
  const isBelow = (name: string) => isAtOrBelow(name, domain) && !isSame(name);
  const isOther = (name: string) => !isAtOrBelow(name, domain);
  const ordered = [isSame, isBelow, isOther].flatMap((rank) => names.filter(rank));
  return (await firstValid(check, ordered)) ?? "unknown";
};

const namesOf = ({ namesMax }: Check, records: readonly string[]): readonly string[] =>
  records.slice(0, namesMax).map(withoutFinalDot).filter(isAskable);

const firstValid = async (
  { dns, ip }: Check,
  names: readonly string[],
): Promise<string | undefined> => {
  for (const name of names) {
    // Whoever sends from the host names it; a void answer here is not the domain's.
    const outcome = await dns.askFreely(addressType(ip), name);
    const texts: readonly string[] = outcome.kind === "ok" ? outcome.records : [];
    if (texts.some((text) => isSameIp(parseIp(text), ip))) return name;
  }
  return undefined;
};
