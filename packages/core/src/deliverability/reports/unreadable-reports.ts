import * as v from "valibot";
import { getRetentionSeconds } from "../../accounts/retention.ts";
import { paginateQuery } from "../../lib/paginate-query.ts";
import { toEpochSeconds, toUtcDay } from "../../lib/time.ts";
import { getOwnerId, type Payer } from "../../money/payer.ts";
import type { Table, Write } from "../../ports/table.ts";
import type { ReportNote } from "./report-notes.ts";

// Layout. An account has one address for reports about all domains, and anyone may write to it. Unreadable mails therefore
// store only one item per day, with their number and the fault of the last mail.
//
//   pk                        sk              content
//   UNREADREPORTS#<owner>     <day received>  mails: the number with an unreadable report; from, path, what: of the last mail

export type UnreadableReports = ReportNote & {
  readonly day: string;
  readonly mails: number;
  /** The domain in the From of the last mail. Null when it is unknown. */
  readonly from: string | null;
};

const toPartition = (owner: string): string => `UNREADREPORTS#${owner}`;

export const countUnreadable = (
  payer: Payer,
  now: Date,
  { from, path, what }: Omit<UnreadableReports, "day" | "mails">,
): Write => ({
  update: { pk: toPartition(getOwnerId(payer)), sk: toUtcDay(now) },
  set: { from, path, what, expires_at: toEpochSeconds(now) + getRetentionSeconds(payer) },
  add: { mails: 1 },
  orCreate: true,
});

const Stored = v.object({
  sk: v.string(),
  mails: v.number(),
  from: v.nullable(v.string()),
  path: v.string(),
  what: v.string(),
});

/** Lists the days from `since` to `until`, the newest first. */
export const listUnreadable = async (
  table: Table,
  owner: string,
  { since, until }: { readonly since: string; readonly until: string },
): Promise<readonly UnreadableReports[]> => {
  const query = { pk: toPartition(owner), sk: { from: since, to: until }, newestFirst: true };
  const items = await Array.fromAsync(paginateQuery(table, { ...query, pageSize: 100 }));
  return items.map((item) => {
    const { sk: day, ...stored } = v.parse(Stored, item);
    return { day, ...stored };
  });
};
