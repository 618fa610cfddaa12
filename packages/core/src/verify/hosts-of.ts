import { withDeadline } from "../mail/dns/budget.ts";
import type { Dns } from "../mail/dns/dns.ts";
import type { Cidr } from "../mail/ip.ts";
import { findMailHosts } from "../mail/mail-hosts.ts";

export type HostsOf = (domain: string) => ReturnType<typeof findMailHosts>;

/** Everything that DNS is asked about one domain has this long together, and no more questions than these. */
const BUDGET_MS = 10_000;
const QUESTIONS_MAX = 40;

/**
 * Where mail for a domain goes. Addresses of one domain that are verified at the same moment share the looking-up;
 * what was found is kept by the cache of the DNS door, and by nobody else.
 */
export const mailHostsBy = (doors: {
  readonly dns: Dns;
  readonly allowed: readonly Cidr[];
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
}): HostsOf => {
  const underWay = new Map<string, ReturnType<typeof findMailHosts>>();
  return (domain) => {
    const shared = underWay.get(domain);
    if (shared) return shared;
    const { now, sleep } = doors;
    const budget = { budgetMs: BUDGET_MS, questionsMax: QUESTIONS_MAX, now, sleep };
    const looking = findMailHosts(withDeadline(doors.dns, budget), domain, doors.allowed);
    underWay.set(domain, looking);
    return looking.finally(() => underWay.delete(domain));
  };
};
