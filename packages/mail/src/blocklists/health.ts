import { type Dns, isFault } from "../dns/dns.ts";
import type { Clock } from "../lib/clock.ts";
import type { Blocklist } from "./lists.ts";
import { isCode, parseAnswer } from "./parse-answer.ts";

/** Tells whether a list separates listed from unlisted entries. `zone` is the queried name, with the key in it. */
export type IsHealthy = (dns: Dns, list: Blocklist, zone: string) => Promise<boolean>;

/** A dead list is emptied or lists the whole world within days; a list that did not answer may answer again soon. */
const CACHE_MS = 3_600_000;
const CACHE_AFTER_FAULT_MS = 60_000;

type HealthResult = { readonly isHealthy: boolean; readonly isCertain: boolean };

/** RFC 5782 §5: finds dead lists, refused resolvers and lists of the whole world by two test entries with known answers. */
export const probe = async (dns: Dns, list: Blocklist, zone: string): Promise<HealthResult> => {
  const [there, absent] = await Promise.all([
    list.mustList === null ? null : dns("A", `${list.mustList}.${zone}`),
    dns("A", `${list.mustNotList}.${zone}`),
  ]);
  const isHealthy =
    (there === null || isCode(list.codes, there)) &&
    parseAnswer(list.codes, absent).kind === "not_listed";
  return { isHealthy, isCertain: !isFault(absent) && (there === null || !isFault(there)) };
};

/** Caches the health of lists: a probe costs as many questions as two checks do. */
export const createListHealth = (now: () => Date): IsHealthy => {
  const cached = new Map<
    string,
    { readonly probed: Promise<HealthResult>; readonly untilMs: number }
  >();
  return async (dns, list, zone) => {
    const entry = cached.get(zone);
    if (entry && now().getTime() < entry.untilMs) return (await entry.probed).isHealthy;
    const probed = probe(dns, list, zone);
    cached.set(zone, { probed, untilMs: now().getTime() + CACHE_MS });
    const { isHealthy, isCertain } = await probed;
    if (!isCertain) cached.set(zone, { probed, untilMs: now().getTime() + CACHE_AFTER_FAULT_MS });
    return isHealthy;
  };
};

/**
 * Limits how long this check waits for a list's health test. All checks share the test, so the test itself continues: otherwise one slow
 * domain would make all checks skip the list.
 */
export const limitHealthWait = (
  isHealthy: IsHealthy,
  { listDns, now, sleep }: { readonly listDns: Dns } & Clock,
  budgetMs: number,
): IsHealthy => {
  const endsAtMs = now().getTime() + budgetMs;
  let expiry: Promise<false> | undefined;
  return (_, list, zone) => {
    expiry ??= sleep(Math.max(0, endsAtMs - now().getTime())).then(() => false);
    return Promise.race([isHealthy(listDns, list, zone), expiry]);
  };
};
