import type { Client } from "@mailproof/client/client";
import { type ErrorCode, MailproofError } from "@mailproof/client/errors";
import type { Job } from "@mailproof/client/types";
import * as v from "valibot";
import { PROGRAM } from "../installation.ts";
import { Flag } from "./define-command.ts";
import { createJobProgress, formatDeferred, getPercent } from "./job-progress.ts";
import { getStateFile, removeJobState, removeState } from "./job-state.ts";
import { formatCount } from "./progress.ts";
import { writeResults } from "./results-file.ts";
import type { Service } from "./service.ts";
import { createStatusLines } from "./status-lines.ts";
import { getColumns, quoteForShell } from "./terminal.ts";

/** The options of every command that follows a job. */
export const FOLLOW = {
  out: v.optional(v.string()),
  json: Flag,
  force: Flag,
  partial: Flag,
  "no-wait": Flag,
};

export const FOLLOW_FLAGS = ["json", "force", "partial", "no-wait"];

/** Rows of JSON, by the option or by the name of the file. */
export const isJsonOutput = ({
  json,
  out,
}: {
  readonly json: boolean;
  readonly out?: string | undefined;
}): boolean => json || out?.endsWith(".jsonl") === true;

/** Which results are wanted, and where. */
export type ResultOptions = {
  readonly out: string | undefined;
  readonly json: boolean;
  readonly force: boolean;
  /** The rows that are finished now, without waiting for the others. */
  readonly partial: boolean;
  readonly signal: AbortSignal;
};

/** Waits for a job unless partial results are wanted, and writes its results. Exit code 1: there are none. */
export const followJob = async (
  { client, url }: Service,
  id: string,
  options: ResultOptions,
  stateFile?: string,
): Promise<number> => {
  const job = options.partial
    ? await readJob(client, id, options.signal)
    : await waitForJob(client, id, options.signal);
  if (options.partial && isOpen(job)) return writePartial(client, url, job, options);
  if (job.status !== "completed") {
    process.stderr.write(`${id}: ${job.status}. ${job.error ?? ""}\n`);
    if (stateFile !== undefined) removeState(stateFile);
    return 1;
  }
  await writeRows(client, id, options);
  if (stateFile !== undefined) removeState(stateFile);
  if (options.out !== undefined) removeJobState(getStateFile(options.out, ""), id);
  process.stderr.write(`${formatSummary(job)}\n`);
  return 0;
};

const OPEN: readonly Job["status"][] = ["pending", "processing", "enqueue_unknown"];
export const isOpen = ({ status }: Job): boolean => OPEN.includes(status);

export const readJob = (client: Client, id: string, signal: AbortSignal): Promise<Job> =>
  client.getJob({ id, include_results: false }, { signal });

/** Waits with status lines on the terminal. */
export const waitForJob = (client: Client, id: string, signal: AbortSignal): Promise<Job> => {
  const lines = createStatusLines(process.stderr);
  const formatParts = createJobProgress();
  const onProgress = process.stderr.isTTY
    ? (job: Job) => lines.show(formatParts(job, getColumns(process.stderr)))
    : undefined;
  return client.waitForJob({ id }, { signal, onProgress }).finally(lines.end);
};

const writePartial = async (
  client: Client,
  url: string,
  job: Job,
  options: ResultOptions,
): Promise<number> => {
  const { job_id: id, progress, deferred } = job;
  const isAny = progress.processed > 0;
  if (isAny) await writeRows(client, id, options);
  const progressText = `${formatCount(progress.processed)} of ${formatCount(progress.total)} rows are finished (${getPercent(progress)}%).`;
  const waiting = deferred === undefined ? "" : ` ${formatDeferred(deferred, new Date())}.`;
  const how = formatFollowCommand(url, id, {
    ...options,
    force: options.out !== undefined && isAny,
  });
  process.stderr.write(`${progressText}${waiting} ${id} continues. For all rows:\n\n  ${how}\n`);
  return isAny ? 0 : 1;
};

const writeRows = async (
  client: Client,
  id: string,
  { out, json, force, partial, signal }: ResultOptions,
): Promise<void> => {
  const pieces = json
    ? toJsonLines(client.results({ id }, { signal, wait: !partial }))
    : (await client.download({ id }, { signal })).stream;
  await writeResults(out, force, pieces);
};

async function* toJsonLines(rows: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}

const formatSummary = ({ progress }: Job): string => {
  const { total, valid, invalid, risky, unknown } = progress;
  const addresses = total === 1 ? "1 address" : `${formatCount(total)} addresses`;
  return `${addresses}: ${formatCount(valid)} valid, ${formatCount(invalid)} invalid, ${formatCount(risky)} risky, role or catch-all, ${formatCount(unknown)} unknown.`;
};

/** The command that waits for a job and writes its results. */
export const formatFollowCommand = (
  url: string,
  id: string,
  { out, json, force }: Pick<ResultOptions, "out" | "json" | "force">,
): string =>
  [
    `${PROGRAM} jobs ${id} --api ${url}`,
    ...(out === undefined ? [] : [`--out ${quoteForShell(out)}`]),
    ...(force ? ["--force"] : []),
    ...(json ? ["--json"] : []),
  ].join(" ");

/** Then there is no such job, or it belongs to another account. */
const DENIED: readonly ErrorCode[] = ["INVALID_REQUEST", "UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND"];

/** A job continues without this process, so the caller learns how to wait for it again. */
export const explainHowToFollow = (
  { url }: Service,
  id: string,
  options: ResultOptions,
  following: Promise<number>,
): Promise<number> =>
  following.catch((error: unknown) => {
    process.stderr.write(
      `${explainContinuation(error, id, formatFollowCommand(url, id, options), options.signal)}\n`,
    );
    return 1;
  });

/** Throws the error when there is no job to go on with. */
export const explainContinuation = (
  error: unknown,
  id: string,
  how: string,
  signal: AbortSignal,
): string => {
  if (error instanceof MailproofError && DENIED.includes(error.code)) throw error;
  const why = signal.aborted ? "Interrupted." : (error as Error).message;
  return `${why}\n${id} continues and is already paid for. To wait for it again:\n\n  ${how}`;
};
