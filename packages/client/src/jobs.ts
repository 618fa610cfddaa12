import { OPERATIONS } from "./operations.ts";
import type { CallOptions } from "./options.ts";
import { pages } from "./pages.ts";
import type { Transport } from "./transport.ts";
import type { GetJobData, Job, ListJobsData, ListJobsInput, ResultRow } from "./types.ts";

export interface WaitOptions extends CallOptions {
  /** Told each time that the job was looked at. */
  onProgress?: ((job: Job) => void) | undefined;
}

const JOBS_PER_PAGE = 100;
const ROWS_PER_PAGE = 1_000;

/** How long between two looks at a job: each time twice as long as before, but never longer than this. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 5_000;

const OPEN: readonly Job["status"][] = ["pending", "processing", "enqueue_unknown"];

export const jobsOver = ({ call, clock }: Transport) => ({
  /** Every job, newest first. */
  jobs: (
    input: Omit<ListJobsInput, "offset" | "limit"> = {},
    options?: CallOptions,
  ): AsyncIterable<Job> =>
    pages(async (offset) => {
      const wanted = { ...input, limit: JOBS_PER_PAGE, offset };
      const page = await call<ListJobsData>(OPERATIONS.listJobs, wanted, options);
      return { items: page.jobs, next: page.next_offset };
    }),

  /** Every result that a job has so far, in the order of its list. */
  results: ({ id }: { id: string }, options?: CallOptions): AsyncIterable<ResultRow> =>
    pages(async (next_key) => {
      const wanted = { id, limit: ROWS_PER_PAGE, next_key };
      const page = await call<GetJobData>(OPERATIONS.getJob, wanted, options);
      return { items: page.results ?? [], next: page.next_key };
    }),

  /**
   * Waits until the job is over, and gives it as it is then: look at its `status`. It waits as long as the job takes;
   * a signal such as `AbortSignal.timeout(…)` ends that, and the job goes on.
   */
  waitForJob: async (
    { id }: { id: string },
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
