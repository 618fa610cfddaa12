import { withDeadline } from "@mailproof/mail/dns/deadline";
import type { Dns } from "@mailproof/mail/dns/dns";
import { findMailHosts } from "@mailproof/mail/dns/mail-hosts";
import type { Cidr } from "@mailproof/mail/ip";
import { equalizeTiming } from "./equalize-timing.ts";

/** `account`: the account that looks up the domain; absent when a process serves only one person. */
export type MailHostLookup = (domain: string, account?: string) => ReturnType<typeof findMailHosts>;

/** The total time and number of queries that the look-up of one domain may take. */
const BUDGET_MS = 10_000;
const QUESTIONS_MAX = 40;

/**
 * Finds the mail hosts of a domain. An account's concurrent verifications at one domain share the look-up. Only the DNS port's
 * cache stores the result, and it hides its hits: the duration of a look-up does not show whether another account looked up the
 * domain before.
 */
export const createMailHostLookup = (ports: {
  readonly dns: Dns;
  readonly allowed: readonly Cidr[];
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
}): MailHostLookup => {
  const inFlight = new Map<string, ReturnType<typeof findMailHosts>>();
  const getDns = equalizeTiming(ports);
  return (domain, account = "") => {
    const key = `${account} ${domain}`;
    const shared = inFlight.get(key);
    if (shared) return shared;
    const { now, sleep } = ports;
    const budget = { budgetMs: BUDGET_MS, questionsMax: QUESTIONS_MAX, now, sleep };
    const lookup = findMailHosts(withDeadline(getDns(account), budget), domain, ports.allowed);
    inFlight.set(key, lookup);
    return lookup.finally(() => inFlight.delete(key));
  };
};
