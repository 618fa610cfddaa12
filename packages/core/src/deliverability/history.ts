import type { Table } from "../ports/table.ts";
import { type Check, iterateChecks } from "./items.ts";

/** The contract reads at most so many pages of a history, and says so when there is more. */
const PAGES_MAX = 20;
const PAGE_SIZE = 100;

type CheckHistory = {
  /** Newest first. */
  readonly checks: readonly Check[];
  /** How many there are among those that were considered. */
  readonly total: number;
  /** There are more than were considered. */
  readonly isTruncated: boolean;
};

export const listChecks = async (
  table: Table,
  owner: string,
  limit: number,
): Promise<CheckHistory> => {
  const checks: Check[] = [];
  let total = 0;
  for await (const check of iterateChecks(table, owner, PAGE_SIZE)) {
    if (total === PAGES_MAX * PAGE_SIZE) return { checks, total, isTruncated: true };
    if (total < limit) checks.push(check);
    total++;
  }
  return { checks, total, isTruncated: false };
};
