import { getDomain } from "@mailproof/mail/address";
import { popularProviders } from "@mailproof/mail/lists/providers";
import { suggestTypo } from "@mailproof/mail/signals/typo";

// Finds the most frequent domains of a list with the algorithm of Misra and Gries: every domain with more than one address in
// COUNTERS_MAX, in memory that does not grow with the list. The counts are estimates and only choose domains; the summary
// counts the chosen domains exactly.

export type TopDomains = {
  readonly add: (email: string) => void;
  /** Lists the most frequent domain first. A domain with a single address is left out, because it may belong to a person. */
  readonly list: () => readonly string[];
};

const COUNTERS_MAX = 4_096;
const DOMAINS_MAX = 20;
/** Among the next most frequent domains, those that look like a typo: a summary offers to correct them. */
const TYPOS_MAX = 20;
const TYPOS_AMONG = 200;

export const createTopDomains = (countersMax = COUNTERS_MAX): TopDomains => {
  const counts = new Map<string, number>();
  /**
   * The amount subtracted from every counter so far: a counter lives while it is larger. Each turn subtracts at least one from
   * each counter, and the sum of all subtractions is at most the number of addresses, so the turns are few.
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

/** The list does not show yet whether the domain accepts mail; the results will show it. */
const looksLikeTypo = (domain: string): boolean =>
  suggestTypo(
    { local: "", domain },
    { mailWorks: false, squatOf: null, hasRareEnding: false },
    popularProviders,
  ).suggestion !== null;
