import { OPERATIONS } from "./operations.ts";
import type { CallOptions } from "./options.ts";
import { pages } from "./pages.ts";
import type { Transport } from "./transport.ts";
import type { GetJobData, Job, ListJobsData, ListJobsInput, ResultRow } from "./types.ts";

/** Names one job. */
export interface JobInput {
  /** The job's id. */
  id: string;
}

/** How to wait for a job. */
export interface WaitOptions extends CallOptions {
  /** Called with the job each time it was read. */
  onProgress?: ((job: Job) => void) | undefined;
}

const JOBS_PER_PAGE = 100;
const ROWS_PER_PAGE = 1_000;

/** How long between two looks at a job: each time twice as long as before, but never longer than this. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 5_000;

const OPEN: readonly Job["status"][] = ["pending", "processing", "enqueue_unknown"];

export const jobsOver = ({ call, clock }: Transport) => ({
  jobs: (
    input: Omit<ListJobsInput, "offset" | "limit"> = {},
    options?: CallOptions,
  ): AsyncIterable<Job> =>
    pages(async (offset) => {
      const wanted = { ...input, limit: JOBS_PER_PAGE, offset };
      const page = await call<ListJobsData>(OPERATIONS.listJobs, wanted, options);
      return { items: page.jobs, next: page.next_offset };
    }),

  results: ({ id }: JobInput, options?: CallOptions): AsyncIterable<ResultRow> =>
    pages(async (next_key) => {
      const wanted = { id, limit: ROWS_PER_PAGE, next_key };
      const page = await call<GetJobData>(OPERATIONS.getJob, wanted, options);
      return { items: page.results ?? [], next: page.next_key };
    }),

  waitForJob: async (
    { id }: JobInput,
    { onProgress, ...options }: WaitOptions = {},
  ): Promise<Job> => {
    for (let looks = 0; ; looks++) {
      const wanted = { id, include_results: false };
      const job = await call<Job>(OPERATIONS.getJob, wanted, options);
      onProgress?.(job);
      if (!OPEN.includes(job.status)) return job;
      // When the signal comes, the next look tells so.
      await clock.sleep(Math.min(FIRST_LOOK_MS * 2 ** looks, LAST_LOOK_MS), options.signal);
    }
  },
});
