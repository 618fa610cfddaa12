import type { Address } from "@mailproof/mail/address";
import { listAddressHashes, listDomainHashes } from "../accounts/hashes.ts";
import { DAY_MS, isUnexpired } from "../lib/time.ts";
import type { Payer } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import { BOUNCE_DAYS, findKnownVerdict, findSentTo, NOTHING_SENT, toVerdictKey } from "./items.ts";
import { findUsualPattern, readPatternCounts } from "./naming.ts";

// Facts known before a verification, from the account's own mail and from the service's own searches. They never contain
// another account's reports.

export type DomainHistory = {
  /** The pattern of the domain's mailboxes, such as "first.last"; null when no search has proved a pattern. */
  readonly pattern: string | null;
  /** The number of the account's addresses at this domain whose mail was delivered, and whose mail bounced. */
  readonly mail: { readonly delivered: number; readonly bounced: number };
};

export const NO_DOMAIN_HISTORY: DomainHistory = {
  pattern: null,
  mail: { delivered: 0, bounced: 0 },
};

/** Never rejects: an unreadable fact counts as unknown. */
export type AccountHistory = {
  /** The time of the last hard bounce of the account's mail to this address within the last 30 days; null when none occurred. */
  readonly findBounce: (address: Address) => Promise<string | null>;
  readonly findDomain: (domain: string) => Promise<DomainHistory>;
};

/**
 * Reads the history of one account. Other accounts' reports do not count, so an account that reports false bounces spoils only
 * its own results. The pattern of a domain comes from searches, which mail servers decide and not accounts.
 */
export const createAccountHistory = (
  world: Pick<World, "table" | "now" | "settings">,
  { account, bounceFree }: Pick<Payer, "account" | "bounceFree">,
): AccountHistory => ({
  findBounce: async ({ canonical }) => {
    if (bounceFree) return null;
    const hashes = listAddressHashes(world, account, canonical);
    const found = await findKnownVerdict(world.table, hashes).catch(() => undefined);
    const bouncedAt = found?.known?.bouncedAt;
    return bouncedAt !== undefined && isRecent(bouncedAt, world.now()) ? bouncedAt : null;
  },
  findDomain: async (domain) => {
    const hashes = listDomainHashes(world, account, domain);
    const [counts, ...sent] = await Promise.all([
      readPatternCounts(world.table, domain),
      ...hashes.map((hash) => findSentTo(world.table, hash).catch(() => NOTHING_SENT)),
    ]);
    // A count by the key before may have moved on since: its decrease is stored by the new key.
    const sumUp = (fate: "delivered" | "hard"): number =>
      Math.max(
        0,
        sent.reduce((sum, one) => sum + one[fate], 0),
      );
    const mail = { delivered: sumUp("delivered"), bounced: sumUp("hard") };
    return { pattern: findUsualPattern(counts), mail };
  },
});

export const eraseVerdict = async (
  world: Pick<World, "table" | "settings">,
  account: string,
  { canonical }: Address,
): Promise<number> => {
  const hashes = listAddressHashes(world, account, canonical);
  const removed = await Promise.all(
    hashes.map((hash) => world.table.write({ remove: toVerdictKey(hash) })),
  );
  return removed.some(({ outcome }) => outcome === "committed") ? 1 : 0;
};

const BOUNCE_MS = BOUNCE_DAYS * DAY_MS;

const isRecent = (bouncedAt: string, now: Date): boolean =>
  isUnexpired(Date.parse(bouncedAt) + BOUNCE_MS, now.getTime(), BOUNCE_MS);
