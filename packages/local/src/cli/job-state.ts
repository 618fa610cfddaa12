import { createHash } from "node:crypto";
import { createReadStream, rmSync } from "node:fs";
import * as v from "valibot";
import { PROGRAM } from "../installation.ts";
import { createFileAtomic, readJsonFile, writeFileAtomic } from "../storage/atomic-file.ts";
import { UsageError } from "./define-command.ts";

// A small file next to the output names the job that a command started, so that the same command continues it after a kill. The command
// writes the file before the first request that charges, and removes it when the output is complete.

const JobState = v.object({
  version: v.literal(1),
  started_at: v.string(),
  api: v.string(),
  key_sha256: v.string(),
  list_sha256: v.string(),
  idempotency_key: v.string(),
  /** The body of the request that charges, so that a repeat is the same request. */
  request: v.object({
    file_key: v.string(),
    name: v.string(),
    email_column: v.optional(v.string()),
    email_columns: v.optional(v.array(v.string())),
    continues: v.optional(v.string()),
    fresh_days: v.optional(v.number()),
    skip_settled: v.optional(v.boolean()),
    options: v.optional(v.object({ max_wait_minutes: v.number() })),
  }),
  job_id: v.optional(v.string()),
});

export type JobState = v.InferOutput<typeof JobState>;

/** The fields of the request that options of the command decide. */
export type ListFields = Omit<JobState["request"], "file_key" | "name">;

export type JobInputs = Pick<JobState, "api" | "key_sha256" | "list_sha256"> & {
  readonly fields: ListFields;
};

const FIELD_OPTIONS: Readonly<Record<keyof ListFields, string>> = {
  email_column: "--column",
  email_columns: "--column",
  options: "--max-wait",
  continues: "--continues",
  fresh_days: "--fresh-days",
  skip_settled: "--skip-settled",
};

/** Returns the file next to the output, or next to the list when the results go to standard output. */
export const getStateFile = (out: string | undefined, list: string): string =>
  `${out ?? list}.mailproof.json`;

export const readState = (file: string): JobState | undefined => readJsonFile(file, JobState);

/** When two processes start at once, one creates the state, and both processes continue with it. */
export const createState = (file: string, state: JobState): JobState => {
  createFileAtomic(file, state);
  return readState(file) ?? state;
};

export const saveState = (file: string, state: JobState): void => writeFileAtomic(file, state);

export const removeState = (file: string): void => rmSync(file, { force: true });

export const removeJobState = (file: string, jobId: string): void => {
  if (isStateOfJob(file, jobId)) removeState(file);
};

const isStateOfJob = (file: string, jobId: string): boolean => {
  try {
    return readState(file)?.job_id === jobId;
  } catch {
    return false;
  }
};

export const hashText = (text: string): string => createHash("sha256").update(text).digest("hex");

export const hashFile = async (file: string): Promise<string> => {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
};

/** Other inputs would return the results of another list, or charge a second account. */
export const assertSameInputs = (file: string, state: JobState, inputs: JobInputs): void => {
  const options = Object.entries(FIELD_OPTIONS).filter(([name]) => {
    const field = name as keyof ListFields;
    return JSON.stringify(state.request[field]) !== JSON.stringify(inputs.fields[field]);
  });
  const changed = [
    ...(state.list_sha256 === inputs.list_sha256 ? [] : ["the content of the list"]),
    ...new Set(options.map(([, option]) => option)),
    ...(state.api === inputs.api ? [] : [`the service (it was ${state.api})`]),
    ...(state.key_sha256 === inputs.key_sha256 ? [] : ["the API key"]),
  ];
  if (changed.length === 0) return;
  const { job_id } = state;
  const what = job_id ?? "a job that may have been charged";
  const results = job_id === undefined ? "" : ` Its results: ${PROGRAM} jobs ${job_id}.`;
  throw new UsageError(
    `${file} belongs to ${what}, and this has changed since: ${changed.join(", ")}. Nothing was charged now.${results} To start a new job, choose another --out or remove ${file}.`,
  );
};
