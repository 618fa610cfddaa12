import { withDeadline } from "../mail/dns/deadline.ts";
import type { Dns } from "../mail/dns/dns.ts";
import { equalizeTiming } from "../mail/dns/equalize-timing.ts";
import { findMailHosts } from "../mail/dns/mail-hosts.ts";
import type { Cidr } from "../mail/ip.ts";

/** `account`: the one that the domain is looked up for; absent where a process serves one person alone. */
export type MailHostLookup = (domain: string, account?: string) => ReturnType<typeof findMailHosts>;

/** Everything that DNS is asked about one domain has this long together, and no more questions than these. */
const BUDGET_MS = 10_000;
const QUESTIONS_MAX = 40;

/**
 * Where mail for a domain goes. Addresses of one domain that an account verifies at the same moment share the looking-up;
 * what was found is kept by the cache of the DNS door, and by nobody else. How long it takes does not tell an account
 * whether another one asked before.
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
