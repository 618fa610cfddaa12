import * as v from "valibot";
import { MINUTE_MS } from "../lib/time.ts";
import type { Amounts, Item, Key, Table } from "../ports/table.ts";
import { compareTickets } from "../smtp-pool/fairness.ts";
import { countWaitedMinutes, MAX_WAIT_MINUTES } from "../verify/retry.ts";
import type { Deferral } from "./attempt.ts";
import type { Chunk } from "./chunks.ts";
import { DEFERRAL, isOpenJob, type Job, toDeferredField } from "./items.ts";

// Layout. The deferred rows of a chunk, with their reasons and times. The pass that defers the rows writes the item, and the
// next pass removes it, so the item exists exactly while rows wait. By sort key, a job's first item has the earliest attempt.
//
//   pk              sk                         what
//   DEFERRED#<job>  <ISO time>#<five digits>   groups: rows that are attempted again at the same time
//
// The job itself counts its waiting rows by reason: each pass adds its difference.

const DeferredGroup = v.object({
  ...DEFERRAL,
  rows: v.array(v.number()),
  /** The rows are not deferred: their verifications outlasted the pass, and the next pass continues them at once. */
  isSlow: v.optional(v.boolean()),
});

/** Rows of one chunk that are attempted again at the same time for the same causes. */
export type DeferredGroup = Deferral & { readonly rows: readonly number[] };
export type DeferredRow = Deferral & { readonly row: number };

/** Rows that found no slot at about the same time return together, with the first of their tickets. */
const RETURN_GROUPING_MS = 1_000;

export const toDeferredGroups = (deferrals: readonly DeferredRow[]): readonly DeferredGroup[] => {
  const toTime = ({ at, ticket }: DeferredRow): string => {
    if (!ticket || deferrals.length === 1) return at;
    const atMs = Math.ceil(Date.parse(at) / RETURN_GROUPING_MS) * RETURN_GROUPING_MS;
    return new Date(atMs).toISOString();
  };
  const alike = Map.groupBy(deferrals, (one) =>
    [toTime(one), one.isSlow, one.ticket?.queue, one.exit, one.reason, ...one.causes].join(),
  );
  return [...alike.values()].map((same) => {
    const [first] = same as [DeferredRow, ...DeferredRow[]];
    const { reason, causes, isSlow, exit } = first;
    const [ticket] = same.flatMap((one) => one.ticket ?? []).toSorted(compareTickets);
    return {
      at: toTime(first),
      reason,
      causes,
      rows: same.map(({ row }) => row),
      ...(isSlow && { isSlow }),
      ...(ticket && { ticket }),
      ...(exit !== undefined && { exit }),
    };
  });
};

/** Groups that are due this soon after the first one are attempted with it, in one pass. */
const GROUPING_MS = 30_000;

/** Splits the groups into those that are due and those that keep waiting. The earliest group is always due. */
export const splitDue = (
  groups: readonly DeferredGroup[],
): { readonly due: readonly DeferredGroup[]; readonly later: readonly DeferredGroup[] } => {
  const until = Date.parse(findFirstTime(groups) ?? "") + GROUPING_MS;
  const isDue = ({ at }: DeferredGroup) => Date.parse(at) <= until;
  return { due: groups.filter(isDue), later: groups.filter((group) => !isDue(group)) };
};

export const findFirstGroup = (groups: readonly DeferredGroup[]): DeferredGroup | undefined =>
  groups.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))[0];

export const findFirstTime = (groups: readonly DeferredGroup[]): string | undefined =>
  findFirstGroup(groups)?.at;

/** For the `add` of the job: how a pass changes the number of waiting rows by reason. */
export const countDeferredChange = (
  before: readonly DeferredGroup[],
  after: readonly DeferredGroup[],
): Amounts => {
  const change: Record<string, number> = {};
  const count = (groups: readonly DeferredGroup[], sign: 1 | -1) => {
    for (const { reason, rows, isSlow } of groups) {
      if (isSlow) continue;
      const field = toDeferredField(reason);
      change[field] = (change[field] ?? 0) + sign * rows.length;
    }
  };
  count(after, 1);
  count(before, -1);
  return Object.fromEntries(Object.entries(change).filter(([, by]) => by !== 0));
};

export const toDeferredPartition = (job: string): string => `DEFERRED#${job}`;

export const toDeferredKey = ({ job, chunk }: Pick<Chunk, "job" | "chunk">, at: string): Key => ({
  pk: toDeferredPartition(job),
  sk: `${at}#${String(chunk).padStart(5, "0")}`,
});

export const toDeferredItem = (
  { job, chunk }: Pick<Chunk, "job" | "chunk">,
  at: string,
  groups: readonly DeferredGroup[],
): Item => ({ ...toDeferredKey({ job, chunk }, at), job, chunk, groups });

/** Undefined when no rows are deferred, or when another worker has stored the pass meanwhile. */
export const findDeferredGroups = async (
  table: Table,
  { job, chunk, retryAt }: Chunk,
): Promise<readonly DeferredGroup[] | undefined> => {
  if (retryAt === undefined) return undefined;
  const item = await table.get(toDeferredKey({ job, chunk }, retryAt));
  return item && v.parse(v.array(DeferredGroup), item["groups"]);
};

/** Summary of the deferred rows of a running job. */
export type DeferredSummary = {
  readonly count: number;
  readonly byReason: Readonly<Record<string, number>>;
  /** ISO 8601. In the past while the attempt is under way. */
  readonly nextAttemptAt: string;
  /** The latest time at which every row has a result, ISO 8601. Undefined when unknown. */
  readonly latestEndAt?: string | undefined;
};

/** Reading more items for each request would cost too much. */
const ITEMS_READ_MAX = 50;

/** Undefined if no row is deferred. */
export const findDeferred = async (
  table: Table,
  job: Job,
): Promise<DeferredSummary | undefined> => {
  const { deferred: byReason, retry } = job;
  if (!isOpenJob(job)) return undefined;
  if (retry) return { count: 1, byReason: { [retry.reason]: 1 }, nextAttemptAt: retry.at };
  const count = Object.values(byReason).reduce((sum, rows) => sum + rows, 0);
  if (count === 0) return undefined;
  const { items, next } = await table.query({
    pk: toDeferredPartition(job.id),
    limit: ITEMS_READ_MAX,
  });
  const [first] = items;
  // The pass that ended the last wait was stored after the job was read.
  if (!first) return undefined;
  const isEveryRow = count === job.total - job.processed - job.refunds.no_result;
  const latestEndAt = isEveryRow && !next ? findLatestEnd(job, items) : undefined;
  return { count, byReason, nextAttemptAt: first.sk.slice(0, first.sk.indexOf("#")), latestEndAt };
};

/** The sum of a row's waits is at most the job's limit. A wait for a slot has no limit, so its end is unknown. */
const findLatestEnd = ({ mode, options }: Job, items: readonly Item[]): string | undefined => {
  const { maxWaitMinutes = MAX_WAIT_MINUTES.default } = options ?? {};
  const groups = items.flatMap((item) => v.parse(v.array(DeferredGroup), item["groups"]));
  if (mode === "test" || groups.some(({ ticket }) => ticket)) return undefined;
  const ends = groups.map(
    ({ at, causes }) =>
      Date.parse(at) + Math.max(0, maxWaitMinutes - countWaitedMinutes(causes)) * MINUTE_MS,
  );
  return new Date(Math.max(...ends)).toISOString();
};
