import { hashAddress, hashDomain } from "../activity/hashes.ts";
import { findUsualPattern, readPatternCounts } from "../find/items.ts";
import { DAY_MS, isUnexpired } from "../lib/time.ts";
import type { World } from "../ports/world.ts";
import type { AccountHistory } from "../verify/account-history.ts";
import { BOUNCE_DAYS, findSentTo, findVerdictItem, NOTHING_SENT } from "./items.ts";

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

const BOUNCE_MS = BOUNCE_DAYS * DAY_MS;

const isRecent = (bouncedAt: string, now: Date): boolean =>
  isUnexpired(Date.parse(bouncedAt) + BOUNCE_MS, now.getTime(), BOUNCE_MS);
