import { createDownloader, type Download } from "./download.ts";
import { MailproofError, withMessage } from "./errors.ts";
import { type FileSource, getFileName, toBlob } from "./file-source.ts";
import { createJobCalls } from "./jobs.ts";
import { OPERATIONS } from "./operations.ts";
import type { CallOptions, PaidCallOptions } from "./options.ts";
import { createRandomId } from "./random-id.ts";
import type { ClientTransport } from "./transport.ts";
import type {
  CreateUploadData,
  DownloadJobInput,
  Job,
  ProcessFileData,
  ProcessFileInput,
  ResultRow,
} from "./types.ts";

/** The facts about a list that its upload needs. */
export interface UploadInput {
  /** A name that ends with .csv or .txt. Default: the name of the path or File, else `list.csv`. */
  file_name?: string | undefined;
}

/** The settings for verifying a list. */
export interface VerifyFileInput extends UploadInput, Omit<ProcessFileInput, "file_key"> {}

/** A stage of `verifyFile`, reported when it begins; `verifying` also after each read of the job. */
export type FileProgress =
  | {
      /** The list is being sent. */
      readonly stage: "uploading";
      /** The size of the list. */
      readonly bytes: number;
    }
  | {
      /** The list was sent. `processFile` with these two values accepts it, and charges it once. */
      readonly stage: "uploaded";
      /** The key of the uploaded list. */
      readonly file_key: string;
      /** The Idempotency-Key for `processFile`. */
      readonly idempotencyKey: string;
    }
  | {
      /** The list was accepted and charged. */
      readonly stage: "accepted";
      /** The counts and the charge. */
      readonly accepted: ProcessFileData;
    }
  | {
      /** The job runs. */
      readonly stage: "verifying";
      /** The current state of the job. */
      readonly job: Job;
    };

/** Options of sending a list and waiting for its job. */
export interface VerifyFileOptions extends PaidCallOptions {
  /** The function receives each stage as it begins. */
  onProgress?: ((progress: FileProgress) => void) | undefined;
}

/** A list whose job has ended. */
export interface VerifiedFile {
  /** The counts and the charge. */
  readonly accepted: ProcessFileData;
  /** The ended job: check its `status`. */
  readonly job: Job;
  /** The results, in the order of the list. */
  results(options?: CallOptions): AsyncIterable<ResultRow>;
  /** The list as CSV or .xlsx, with the verdicts after its own columns. */
  download(input?: Omit<DownloadJobInput, "id">, options?: CallOptions): Promise<Download>;
}

/** Another upload would be another request: the service would refuse it under this key, and charge again under another key. */
const toUnacceptedError = (file_key: string, cause: unknown): unknown =>
  cause instanceof MailproofError && cause.money === "retry_same_key"
    ? withMessage(cause, `${cause.message} Send processFile, with this file_key: ${file_key}`, {
        details: { file_key },
      })
    : cause;

/** Reading a job is free, but the file is already charged: repeating the whole call would charge it again. */
const toUnfollowedError = (job_id: string, cause: unknown): unknown =>
  withMessage(cause, `${job_id} is charged and continues; follow it with waitForJob.`, {
    money: "kept",
    details: { job_id },
  });

/** Uploads a list and returns the file_key for `processFile`. It is free. */
export const createUploader =
  ({ call, put }: ClientTransport) =>
  async (
    source: FileSource,
    { file_name = getFileName(source) ?? "list.csv" }: UploadInput = {},
    { signal }: CallOptions = {},
  ): Promise<{ file_key: string }> => {
    const file = await toBlob(source);
    const request = { file_name, file_size: file.size };
    const link = await call<CreateUploadData>(OPERATIONS.createUpload, request, { signal });
    await put(link.upload_url, file, { signal });
    return { file_key: link.file_key };
  };

/** Uploads a list, starts its job and waits for it. The list is charged once, even when responses are lost. */
export const createFileVerifier =
  (transport: ClientTransport) =>
  async (
    source: FileSource,
    { file_name = getFileName(source), ...fields }: VerifyFileInput = {},
    { onProgress, ...options }: VerifyFileOptions = {},
  ): Promise<VerifiedFile> => {
    const { call } = transport;
    const { signal, idempotencyKey = createRandomId() } = options;
    const file = await toBlob(source);
    onProgress?.({ stage: "uploading", bytes: file.size });
    const { file_key } = await createUploader(transport)(file, { file_name }, { signal });
    onProgress?.({ stage: "uploaded", file_key, idempotencyKey });

    const wanted = { ...fields, file_key };
    const paid = { signal, idempotencyKey };
    const accepted = await call<ProcessFileData>(OPERATIONS.processFile, wanted, paid).catch(
      (error: unknown) => {
        throw toUnacceptedError(file_key, error);
      },
    );
    onProgress?.({ stage: "accepted", accepted });

    const id = accepted.job_id;
    const { waitForJob, results } = createJobCalls(transport);
    const reportJob = (job: Job) => onProgress?.({ stage: "verifying", job });
    const job = await waitForJob({ id }, { signal, onProgress: reportJob }).catch(
      (error: unknown) => {
        throw toUnfollowedError(id, error);
      },
    );
    const download = createDownloader(transport);
    return {
      accepted,
      job,
      results: (of) => results({ id }, of),
      download: (input, of) => download({ ...input, id }, of),
    };
  };
