import * as v from "valibot";
import { getRetentionSeconds } from "../../accounts/retention.ts";
import { paginateQuery } from "../../lib/paginate-query.ts";
import { toEpochSeconds, toUtcDay } from "../../lib/time.ts";
import { getOwnerId, type Payer } from "../../money/payer.ts";
import type { Table, Write } from "../../ports/table.ts";
import type { ReportNote } from "./report-notes.ts";

// Layout. The address for reports is the same for all domains of an account, and anyone may write to it: one item for a day,
// with a number and what was wrong with the last mail, is all that such mails may come to.
//
//   pk                        sk              what
//   UNREADREPORTS#<owner>     <day received>  mails: how many, with a report that could not be read; from, path, what: of the last

/** Mails of one day with a report that could not be read. */
export type UnreadableReports = ReportNote & {
  readonly day: string;
  readonly mails: number;
  /** The domain in the From of the last. Null: it is not known. */
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

/** Behind every key of a day. */
const LAST = "~";

/** The newest day first. */
export const listUnreadable = async (
  table: Table,
  owner: string,
  since: string,
): Promise<readonly UnreadableReports[]> => {
  const query = { pk: toPartition(owner), sk: { from: since, to: LAST }, newestFirst: true };
  const items = await Array.fromAsync(paginateQuery(table, { ...query, pageSize: 100 }));
  return items.map((item) => {
    const { sk: day, ...stored } = v.parse(Stored, item);
    return { day, ...stored };
  });
};
