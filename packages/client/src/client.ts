import type { ClientClock } from "./clock.ts";
import { createDownloader, type Download } from "./download.ts";
import type { FileSource } from "./file-source.ts";
import { createJobCalls, type JobInput, type ResultsOptions, type WaitOptions } from "./jobs.ts";
import { OPERATIONS } from "./operations.ts";
import type { CallOptions, ClientOptions } from "./options.ts";
import { type ClientTransport, createTransport } from "./transport.ts";
import type {
  CreateUploadData,
  DownloadJobInput,
  Job,
  ListJobsInput,
  Operations,
  ResultRow,
} from "./types.ts";
import {
  createFileVerifier,
  createUploader,
  type UploadInput,
  type VerifiedFile,
  type VerifyFileInput,
  type VerifyFileOptions,
} from "./verify-file.ts";

/** Every operation of the service, and calls that combine several of them. */
export interface Client extends Operations {
  /** Every job, newest first. Reads each page when the one before it is used up. */
  jobs(input?: Omit<ListJobsInput, "offset" | "limit">, options?: CallOptions): AsyncIterable<Job>;

  /**
   * Every result of a job, each exactly once. Of a running job it yields each row when it is ready, waits for more rows, and ends with the
   * job. Of a finished job it yields the rows in the order of the list. Reads each page when the one before it is used up.
   */
  results(input: JobInput, options?: ResultsOptions): AsyncIterable<ResultRow>;

  /**
   * Waits until the job ends, and returns it: check its `status`. It waits as long as the job takes. A signal such as
   * `AbortSignal.timeout(…)` ends the wait; the job continues.
   */
  waitForJob(input: JobInput, options?: WaitOptions): Promise<Job>;

  /** The results of a job as CSV or .xlsx: the columns of the list, followed by the verdicts. */
  download(input: DownloadJobInput, options?: CallOptions): Promise<Download>;

  /** Uploads a list and returns the `file_key` for `processFile`. It charges nothing. */
  upload(
    source: FileSource,
    input?: UploadInput,
    options?: CallOptions,
  ): Promise<Pick<CreateUploadData, "file_key">>;

  /** Uploads a list, has it verified, and waits for its job. The list is charged once, even when responses are lost. */
  verifyFile(
    source: FileSource,
    input?: VerifyFileInput,
    options?: VerifyFileOptions,
  ): Promise<VerifiedFile>;
}

/** Creates a client of one service with one key. The client has no state besides its options. */
export const createClient = (options?: ClientOptions, clock?: ClientClock): Client => {
  const transport = createTransport(options, clock);
  return {
    ...createOperationCalls(transport),
    ...createJobCalls(transport),
    download: createDownloader(transport),
    upload: createUploader(transport),
    verifyFile: createFileVerifier(transport),
  };
};

const createOperationCalls = ({ call }: ClientTransport): Operations =>
  Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, operation]) => [
      name,
      operation.bare
        ? (options?: object) => call(operation, undefined, options)
        : (input?: object, options?: object) => call(operation, input, options),
    ]),
  ) as unknown as Operations;
