import { type Download, downloadOver } from "./download.ts";
import { MailproofError, retold } from "./errors.ts";
import { blobOf, type FileSource, nameOf } from "./file-source.ts";
import { jobsOver } from "./jobs.ts";
import { OPERATIONS } from "./operations.ts";
import type { CallOptions, PaidCallOptions } from "./options.ts";
import type { Transport } from "./transport.ts";
import type {
  CreateUploadData,
  ExportJobInput,
  Job,
  ProcessFileData,
  ProcessFileInput,
  ResultRow,
} from "./types.ts";

export interface UploadInput {
  /** Ends with .csv or .txt. Taken from the path or the File when left out, and else `list.csv`. */
  file_name?: string | undefined;
}

export interface VerifyFileInput extends UploadInput, Omit<ProcessFileInput, "file_key"> {}

/** How far a file has come. */
export type FileProgress =
  | { readonly stage: "uploading"; readonly bytes: number }
  /** With these two `processFile` can be sent again from anywhere, and is paid for once. */
  | { readonly stage: "uploaded"; readonly file_key: string; readonly idempotencyKey: string }
  | { readonly stage: "accepted"; readonly accepted: ProcessFileData }
  | { readonly stage: "verifying"; readonly job: Job };

export interface VerifyFileOptions extends PaidCallOptions {
  onProgress?: ((progress: FileProgress) => void) | undefined;
}

export interface VerifiedFile {
  /** What was counted and charged. */
  readonly accepted: ProcessFileData;
  /** The job as it ended: look at its `status`. */
  readonly job: Job;
  /** The results, in the order of the file. */
  results(options?: CallOptions): AsyncIterable<ResultRow>;
  /** The file with the results beside its own columns, as CSV. */
  download(input?: Omit<ExportJobInput, "id">, options?: CallOptions): Promise<Download>;
}

/** Another upload would be another request: under this key it would be refused, and under another one paid again. */
const unaccepted = (file_key: string, cause: unknown): unknown =>
  cause instanceof MailproofError && cause.money === "retry_same_key"
    ? retold(cause, `${cause.message} Send processFile, with this file_key: ${file_key}`, {
        details: { file_key },
      })
    : cause;

/** Reading a job costs nothing, but by then the file was paid for: so another try of all of it would pay again. */
const unfollowed = (job_id: string, cause: unknown): unknown =>
  retold(cause, `${job_id} is paid for and goes on; follow it with waitForJob.`, {
    money: "kept",
    details: { job_id },
  });

/** Puts a list where `processFile` finds it under the file_key that this gives. It costs nothing. */
export const uploadOver =
  ({ call, put }: Transport) =>
  async (
    source: FileSource,
    { file_name = nameOf(source) ?? "list.csv" }: UploadInput = {},
    { signal }: CallOptions = {},
  ): Promise<{ file_key: string }> => {
    const file = await blobOf(source);
    const to = await call<CreateUploadData>(OPERATIONS.createUpload, { file_name }, { signal });
    await put(to.upload_url, file, { signal });
    return { file_key: to.file_key };
  };

/** Uploads a list, has it verified, and waits. The price is taken once, whatever is lost on the way. */
export const verifyFileOver =
  (transport: Transport) =>
  async (
    source: FileSource,
    { file_name = nameOf(source), ...wishes }: VerifyFileInput = {},
    { onProgress, ...options }: VerifyFileOptions = {},
  ): Promise<VerifiedFile> => {
    const { call } = transport;
    const { signal, idempotencyKey = crypto.randomUUID() } = options;
    const file = await blobOf(source);
    onProgress?.({ stage: "uploading", bytes: file.size });
    const { file_key } = await uploadOver(transport)(file, { file_name }, { signal });
    onProgress?.({ stage: "uploaded", file_key, idempotencyKey });

    const wanted = { ...wishes, file_key };
    const paid = { signal, idempotencyKey };
    const accepted = await call<ProcessFileData>(OPERATIONS.processFile, wanted, paid).catch(
      (error: unknown) => {
        throw unaccepted(file_key, error);
      },
    );
    onProgress?.({ stage: "accepted", accepted });

    const id = accepted.job_id;
    const { waitForJob, results } = jobsOver(transport);
    const looked = (job: Job) => onProgress?.({ stage: "verifying", job });
    const job = await waitForJob({ id }, { signal, onProgress: looked }).catch((error: unknown) => {
      throw unfollowed(id, error);
    });
    const download = downloadOver(transport);
    return {
      accepted,
      job,
      results: (of) => results({ id }, of),
      download: (input, of) => download({ ...input, id }, of),
    };
  };
