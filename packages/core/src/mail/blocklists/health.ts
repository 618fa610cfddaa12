import type { Dns } from "../dns/dns.ts";
import { isFault } from "../dns/outcome.ts";
import { isCode, readAnswer } from "./answer.ts";
import type { Blocklist } from "./lists.ts";

/** Whether a list tells what is listed from what is not. `zone` is where it is asked, with the key in it. */
export type IsHealthy = (dns: Dns, list: Blocklist, zone: string) => Promise<boolean>;

/** A list that died is emptied or lists the world within days; one that did not answer may do so again soon. */
const KEPT_MS = 3_600_000;
const KEPT_AFTER_FAULT_MS = 60_000;

type Probed = { readonly isHealthy: boolean; readonly isCertain: boolean };

/** RFC 5782 §5: finds out dead lists, refused resolvers and lists of the whole world by what they must answer. */
export const probe = async (dns: Dns, list: Blocklist, zone: string): Promise<Probed> => {
  const [there, absent] = await Promise.all([
    list.mustList === null ? null : dns("A", `${list.mustList}.${zone}`),
    dns("A", `${list.mustNotList}.${zone}`),
  ]);
  const isHealthy =
    (there === null || isCode(list.codes, there)) &&
    readAnswer(list.codes, absent).kind === "not_listed";
  return { isHealthy, isCertain: !isFault(absent) && (there === null || !isFault(there)) };
};

/** Remembers what lists came to: a probe costs as many questions as two checks do. */
export const listHealth = (now: () => Date): IsHealthy => {
  const known = new Map<string, { readonly probed: Promise<Probed>; readonly untilMs: number }>();
  return async (dns, list, zone) => {
    const entry = known.get(zone);
    if (entry && now().getTime() < entry.untilMs) return (await entry.probed).isHealthy;
    const probed = probe(dns, list, zone);
    known.set(zone, { probed, untilMs: now().getTime() + KEPT_MS });
    const { isHealthy, isCertain } = await probed;
    if (!isCertain) known.set(zone, { probed, untilMs: now().getTime() + KEPT_AFTER_FAULT_MS });
    return isHealthy;
  };
};
