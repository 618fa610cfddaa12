import { paginateQuery } from "../lib/paginate-query.ts";
import { type Item, type PagePosition, type Table, toPosition } from "../ports/table.ts";
import { type Job, type JobStatus, readJob, SINGLE, toJobsPartition } from "../rows/items.ts";

/** The most jobs that are read to find a page, or to count: a filter with few matches must not read for minutes. */
const JOBS_SCANNED_MAX = 2_000;
const PAGE_SIZE = 200;

export type JobPage = {
  readonly jobs: readonly Job[];
  /** The start of the next page; undefined at the end. */
  readonly next?: PagePosition;
};

/** A single verification that outlasted its request is a job too. A form makes one for each visitor. */
export const LISTED_KINDS = ["list", "single"] as const;

type JobFilter = {
  readonly owner: string;
  readonly status?: JobStatus | undefined;
  readonly kind?: (typeof LISTED_KINDS)[number] | undefined;
};

const isMatch = ({ status, kind }: JobFilter, item: Item): boolean =>
  (!status || item["status"] === status) &&
  (!kind || (item["kind"] === SINGLE) === (kind === "single"));

/** Newest first. A page may be short if many jobs were read and few matched the filter. */
export const listJobs = async (
  table: Table,
  filter: JobFilter,
  { limit, after }: { readonly limit: number; readonly after?: PagePosition | undefined },
): Promise<JobPage> => {
  const jobs: Job[] = [];
  let scanned = 0;
  let last: Item | undefined;
  for await (const item of iterateNewestFirst(table, filter.owner, after)) {
    const isListed = isMatch(filter, item);
    // Only a further match proves a next page; a job that does not match proves nothing.
    if (last && (scanned === JOBS_SCANNED_MAX || (isListed && jobs.length === limit)))
      return { jobs, next: toPosition(last, "list") };
    if (isListed) jobs.push(readJob(item));
    scanned++;
    last = item;
  }
  return { jobs };
};

/** The number of matching jobs; `isFloor`: at least this many, because the count stopped early. */
export const countJobs = async (
  table: Table,
  filter: JobFilter,
): Promise<{ readonly total: number; readonly isFloor: boolean }> => {
  let total = 0;
  let scanned = 0;
  for await (const item of iterateNewestFirst(table, filter.owner)) {
    if (scanned++ === JOBS_SCANNED_MAX) return { total, isFloor: true };
    if (isMatch(filter, item)) total++;
  }
  return { total, isFloor: false };
};

async function* iterateNewestFirst(
  table: Table,
  owner: string,
  after?: PagePosition,
): AsyncGenerator<Item> {
  const list = {
    index: "list",
    pk: toJobsPartition(owner),
    newestFirst: true,
    pageSize: PAGE_SIZE,
  } as const;
  yield* paginateQuery(table, { ...list, ...(after && { after }) });
}
