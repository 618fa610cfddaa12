import type { Table } from "../ports/table.ts";
import { type Check, iterateChecks } from "./items.ts";

/** The most pages of a history that one request reads, also for one domain; the response shows when more exist. */
const PAGES_MAX = 20;
const PAGE_SIZE = 100;

type CheckHistory = {
  /** The checks are sorted, the newest first. */
  readonly checks: readonly Check[];
  /** The total counts the matches among the checks that were read. */
  readonly total: number;
  readonly isTruncated: boolean;
};

export const listChecks = async (
  table: Table,
  owner: string,
  { limit, domain }: { readonly limit: number; readonly domain?: string | undefined },
): Promise<CheckHistory> => {
  const checks: Check[] = [];
  let [read, total] = [0, 0];
  for await (const check of iterateChecks(table, owner, PAGE_SIZE)) {
    if (read === PAGES_MAX * PAGE_SIZE) return { checks, total, isTruncated: true };
    read++;
    if (domain !== undefined && check.domain !== domain) continue;
    if (total < limit) checks.push(check);
    total++;
  }
  return { checks, total, isTruncated: false };
};

/** Undefined also when the domain's newest check is older than the checks that one request reads. */
export const findNewestCheck = async (
  table: Table,
  owner: string,
  domain: string,
): Promise<Check | undefined> => {
  let read = 0;
  for await (const check of iterateChecks(table, owner, PAGE_SIZE)) {
    if (check.domain === domain) return check;
    if (++read === PAGES_MAX * PAGE_SIZE) return undefined;
  }
  return undefined;
};
