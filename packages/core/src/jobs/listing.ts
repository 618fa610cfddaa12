import { everyItem } from "../every-item.ts";
import { type Item, type Position, positionOf, type Table } from "../table.ts";
import { type Job, type JobStatus, jobsOf, readJob } from "./items.ts";

/** So many are looked at to find a page, and to count; a filter that few meet must not read for minutes. */
const LOOKED_AT_MAX = 2_000;
const PAGE_SIZE = 200;

export type Listed = {
  readonly jobs: readonly Job[];
  /** Where to go on; undefined when there is nothing more. */
  readonly next?: Position;
};

type Listing = { readonly owner: string; readonly status?: JobStatus | undefined };

/** Newest first. A page may be short where many were looked at and few met the filter. */
export const listJobs = async (
  table: Table,
  { owner, status }: Listing,
  { limit, after }: { readonly limit: number; readonly after?: Position | undefined },
): Promise<Listed> => {
  const jobs: Job[] = [];
  let lookedAt = 0;
  let last: Item | undefined;
  for await (const item of newestFirst(table, owner, after)) {
    const job = readJob(item);
    const isListed = !status || job.status === status;
    // One more than is shown tells whether there is a next page; one that the filter leaves out tells nothing.
    if (last && (lookedAt === LOOKED_AT_MAX || (isListed && jobs.length === limit)))
      return { jobs, next: positionOf(last, "list") };
    if (isListed) jobs.push(job);
    lookedAt++;
    last = item;
  }
  return { jobs };
};

/** How many there are; `isFloor`: at least so many, and the counting was stopped. */
export const countJobs = async (
  table: Table,
  { owner, status }: Listing,
): Promise<{ readonly total: number; readonly isFloor: boolean }> => {
  let total = 0;
  let lookedAt = 0;
  for await (const item of newestFirst(table, owner)) {
    if (lookedAt++ === LOOKED_AT_MAX) return { total, isFloor: true };
    if (!status || item["status"] === status) total++;
  }
  return { total, isFloor: false };
};

async function* newestFirst(table: Table, owner: string, after?: Position): AsyncGenerator<Item> {
  const list = {
    index: "list",
    pk: jobsOf(owner),
    newestFirst: true,
    pageSize: PAGE_SIZE,
  } as const;
  yield* everyItem(table, { ...list, ...(after && { after }) });
}
