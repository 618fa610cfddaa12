import { getDomain } from "@mailproof/mail/address";

// The most frequent domains of a list, by Misra and Gries' algorithm: whatever has more than one address in COUNTERS_MAX
// is found, in memory that does not grow with the list. The counts are estimates, and only choose: what a summary shows
// is counted exactly, for the domains chosen here.

export type TopDomains = {
  readonly add: (email: string) => void;
  /** The most frequent first. A domain of a single address is left out: it may be a person's own. */
  readonly list: () => readonly string[];
};

const COUNTERS_MAX = 4_096;
const DOMAINS_MAX = 20;

export const createTopDomains = (countersMax = COUNTERS_MAX): TopDomains => {
  const counts = new Map<string, number>();
  /**
   * What was taken from every counter so far: a counter lives while it is above this. Each turn takes at least one from
   * each of them, and no more can be taken than was added: so the turns are few.
   */
  let taken = 0;

  const dropSmallest = (): void => {
    taken = Math.min(...counts.values());
    for (const [domain, count] of counts) if (count <= taken) counts.delete(domain);
  };

  return {
    add: (email) => {
      const domain = getDomain(email).toLowerCase();
      const count = counts.get(domain);
      if (count === undefined && counts.size === countersMax) dropSmallest();
      counts.set(domain, (count ?? taken) + 1);
    },
    list: () =>
      [...counts]
        .filter(([, count]) => count > taken + 1)
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, DOMAINS_MAX)
        .map(([domain]) => domain),
  };
};
