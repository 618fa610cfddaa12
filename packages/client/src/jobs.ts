import { OPERATIONS } from "./operations.ts";
import type { CallOptions } from "./options.ts";
import type { ClientTransport } from "./transport.ts";
import type { GetJobData, Job, ListJobsData, ListJobsInput, ResultRow } from "./types.ts";

/** Yields all entries of a list. Reads each page when the one before it is used up. */
async function* readPages<T>(
  read: (cursor: string | undefined) => Promise<{ items: readonly T[]; next: string | undefined }>,
): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const { items, next } = await read(cursor);
    yield* items;
    cursor = next;
  } while (cursor !== undefined);
}

/** Names one job. */
export interface JobInput {
  /** The job's id. */
  id: string;
}

/** Options of waiting for a job. */
export interface WaitOptions extends CallOptions {
  /** The function receives the job after each read. */
  onProgress?: ((job: Job) => void) | undefined;
}

/** Options of reading the results of a job. */
export interface ResultsOptions extends CallOptions {
  /** `false` ends at the last row that is ready now, also while the job runs. */
  wait?: boolean | undefined;
}

const JOBS_PER_PAGE = 100;
const ROWS_PER_PAGE = 1_000;

/** The pause between two reads of a job doubles each time, up to this maximum. */
const FIRST_POLL_MS = 250;
const POLL_MS_MAX = 5_000;

const getPollDelayMs = (polls: number): number => Math.min(FIRST_POLL_MS * 2 ** polls, POLL_MS_MAX);

const OPEN: readonly Job["status"][] = ["pending", "processing", "enqueue_unknown"];

export const createJobCalls = ({ call, clock }: ClientTransport) => ({
  jobs: (
    input: Omit<ListJobsInput, "offset" | "limit"> = {},
    options?: CallOptions,
  ): AsyncIterable<Job> =>
    readPages(async (offset) => {
      const wanted = { ...input, limit: JOBS_PER_PAGE, offset };
      const page = await call<ListJobsData>(OPERATIONS.listJobs, wanted, options);
      return { items: page.jobs, next: page.next_offset };
    }),

  results: (
    { id }: JobInput,
    { wait = true, ...options }: ResultsOptions = {},
  ): AsyncIterable<ResultRow> => {
    let polls = 0;
    let isCaughtUp = false;
    return readPages(async (next_key) => {
      if (isCaughtUp) await clock.sleep(getPollDelayMs(polls++), options.signal);
      const wanted = { id, limit: ROWS_PER_PAGE, next_key };
      const page = await call<GetJobData>(OPERATIONS.getJob, wanted, options);
      const items = page.results ?? [];
      isCaughtUp = wait && items.length < ROWS_PER_PAGE && OPEN.includes(page.status);
      // A short page does not prove that nothing more is ready; an empty page does.
      const isEnd = !wait && items.length === 0;
      return { items, next: isEnd ? undefined : page.next_key };
    });
  },

  waitForJob: async (
    { id }: JobInput,
    { onProgress, ...options }: WaitOptions = {},
  ): Promise<Job> => {
    for (let reads = 0; ; reads++) {
      const wanted = { id, include_results: false };
      const job = await call<Job>(OPERATIONS.getJob, wanted, options);
      onProgress?.(job);
      if (!OPEN.includes(job.status)) return job;
      // When the signal aborts, the next read throws.
      await clock.sleep(getPollDelayMs(reads), options.signal);
    }
  },
});
