import { getDomain } from "@mailproof/mail/address";
import { popularProviders } from "@mailproof/mail/lists/providers";
import { suggestTypo } from "@mailproof/mail/signals/typo";

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
/** Of the next most frequent, those that look like a slip: a summary offers to correct them. */
const TYPOS_MAX = 20;
const TYPOS_AMONG = 200;

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
    list: () => {
      const domains = [...counts]
        .filter(([, count]) => count > taken + 1)
        .toSorted(([, a], [, b]) => b - a)
        .map(([domain]) => domain);
      const typos = domains.slice(DOMAINS_MAX, TYPOS_AMONG).filter(looksLikeTypo);
      return [...domains.slice(0, DOMAINS_MAX), ...typos.slice(0, TYPOS_MAX)];
    },
  };
};

/** Whether mail works there is not known yet: the results say. */
const looksLikeTypo = (domain: string): boolean =>
  suggestTypo(
    { local: "", domain },
    { mailWorks: false, squatOf: null, hasRareEnding: false },
    popularProviders,
  ).suggestion !== null;
