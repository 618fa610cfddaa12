import { withDeadline } from "@mailproof/mail/dns/deadline";
import { type Dns, type DnsOutcome, type DnsRecordType, isFault } from "@mailproof/mail/dns/dns";
import { findMailHosts } from "@mailproof/mail/dns/mail-hosts";
import type { Cidr } from "@mailproof/mail/ip";
import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import type { World } from "../ports/world.ts";

// All accounts share the answers of DNS, which are public. A query by one account is not public, so another account's first
// query for a name takes as long as without the cached answer.

/** The resolver's own cache, which all accounts also share, may keep an answer for a day. */
const REMEMBERED_MS = 24 * 3_600_000;
/**
 * The durations of names' first queries, and the pairs of name and account: about 20 MB each. The least recently used entry is
 * dropped: then a name is fast for every account, or slow once more for one account.
 */
const NAMES_MAX = 100_000;

/** The time of three attempts at a silent resolver. */
const DURATION_MAX_MS = 5_000;

type TimingPorts = { readonly dns: Dns } & Pick<World, "now" | "sleep">;

/** Wraps DNS for one account. "" is the only user of a process. */
export const equalizeTiming = ({ dns, now, sleep }: TimingPorts): ((account: string) => Dns) => {
  const firstDurations = createRecentMap<number>(now);
  const queriedBy = createRecentMap<true>(now);

  const waitAsFirst = async (
    question: string,
    { account, durationMs: tookMs }: { readonly account: string; readonly durationMs: number },
  ): Promise<void> => {
    const firstMs = firstDurations.getOrSet(question, tookMs).value;
    const { isNew } = queriedBy.getOrSet(`${account} ${question}`, true);
    if (isNew && firstMs > tookMs) await sleep(firstMs - tookMs);
  };

  return (account) =>
    async <T extends DnsRecordType>(type: T, name: string) => {
      const startedMs = now().getTime();
      const outcome = await dns(type, name);
      // A jump of the clock must not delay an answer longer than a query may take.
      const tookMs = Math.min(Math.max(now().getTime() - startedMs, 0), DURATION_MAX_MS);
      // Accounts share a fault only for seconds, and the next answer may be as fast as any.
      if (!isFault(outcome as DnsOutcome<unknown>))
        await waitAsFirst(`${type} ${name.toLowerCase()}`, { account, durationMs: tookMs });
      return outcome;
    };
};

/** A map that drops entries after a day and, above its bound, the least recently used entry. */
const createRecentMap = <T>(now: () => Date) => {
  const entries = createBoundedMap<{ readonly value: T; readonly untilMs: number }>({
    weightMax: NAMES_MAX,
  });

  const getOrSet = (key: string, value: T): { readonly value: T; readonly isNew: boolean } => {
    const atMs = now().getTime();
    const entry = entries.get(key);
    if (entry && atMs < entry.untilMs) return { value: entry.value, isNew: false };
    entries.set(key, { value, untilMs: atMs + REMEMBERED_MS });
    return { value, isNew: true };
  };

  return { getOrSet };
};

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
