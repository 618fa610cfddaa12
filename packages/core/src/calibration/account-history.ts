import type { Address } from "@mailproof/mail/address";
import { hashAddress, hashDomain } from "../accounts/hashes.ts";
import { DAY_MS, isUnexpired } from "../lib/time.ts";
import type { World } from "../ports/world.ts";
import { BOUNCE_DAYS, findSentTo, findVerdictItem, NOTHING_SENT, toVerdictKey } from "./items.ts";
import { findUsualPattern, readPatternCounts } from "./naming.ts";

// What an account's own mail, and the service's own searches, have shown before a verification. It never
// contains what another account reported.

export type DomainHistory = {
  /** How the domain names its mailboxes, such as "first.last"; null when no search has shown it. */
  readonly pattern: string | null;
  /** Addresses of the account at this domain, by what became of its mail. */
  readonly mail: { readonly delivered: number; readonly bounced: number };
};

export const NO_DOMAIN_HISTORY: DomainHistory = {
  pattern: null,
  mail: { delivered: 0, bounced: 0 },
};

/** Never rejects: what cannot be read counts as not known. */
export type AccountHistory = {
  /** When mail of the account to this address last bounced hard, within the last weeks; null: it did not. */
  readonly findBounce: (address: Address) => Promise<string | null>;
  readonly findDomain: (domain: string) => Promise<DomainHistory>;
};

/**
 * What this account's mail has shown. Another account's reports have no part in it: an account that reports false
 * bounces spoils its own results and no others. The pattern of a domain comes from searches, in which mail servers and
 * not accounts have the last word.
 */
export const createAccountHistory = (
  world: Pick<World, "table" | "now" | "settings">,
  account: string,
): AccountHistory => ({
  findBounce: async ({ canonical }) => {
    const hash = hashAddress(world, account, canonical);
    const item = await findVerdictItem(world.table, hash).catch(() => undefined);
    return item?.bouncedAt !== undefined && isRecent(item.bouncedAt, world.now())
      ? item.bouncedAt
      : null;
  },
  findDomain: async (domain) => {
    const [counts, { delivered, hard }] = await Promise.all([
      readPatternCounts(world.table, domain),
      findSentTo(world.table, hashDomain(world, account, domain)).catch(() => NOTHING_SENT),
    ]);
    return { pattern: findUsualPattern(counts), mail: { delivered, bounced: hard } };
  },
});

/** Returns how many there were. */
export const eraseVerdict = async (
  world: Pick<World, "table" | "settings">,
  account: string,
  { canonical }: Address,
): Promise<number> => {
  const remove = toVerdictKey(hashAddress(world, account, canonical));
  return (await world.table.write({ remove })).outcome === "committed" ? 1 : 0;
};

const BOUNCE_MS = BOUNCE_DAYS * DAY_MS;

const isRecent = (bouncedAt: string, now: Date): boolean =>
  isUnexpired(Date.parse(bouncedAt) + BOUNCE_MS, now.getTime(), BOUNCE_MS);
