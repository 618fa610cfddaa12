import { randomUUID } from "node:crypto";
import { createWriteStream, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Client } from "@mailproof/client/client";
import { type ErrorCode, MailproofError } from "@mailproof/client/errors";
import type { Job, ResultRow } from "@mailproof/client/types";
import type { Status } from "@mailproof/core/verify/result";
import * as v from "valibot";
import { NotEmpty } from "../environment.ts";
import { PROGRAM } from "../installation.ts";
import { linkNewFile } from "../storage/atomic-file.ts";
import { describeOption, Flag, UsageError } from "./define-command.ts";
import { EXIT_CODES, getExitCode } from "./exit-codes.ts";
import { createJobProgress, formatDeferred, getPercent } from "./job-progress.ts";
import { getStateFile, removeJobState, removeState } from "./job-state.ts";
import { areNotesSilent, writeNote } from "./notes.ts";
import { formatAlreadyExists, writeOutput } from "./output.ts";
import type { OutputKind } from "./print-results.ts";
import { formatCount } from "./progress.ts";
import { createResultSummary, type ResultSummary } from "./result-summary.ts";
import {
  formatCsvTable,
  formatSpreadsheetTable,
  type Pieces,
  readResultTable,
} from "./result-table.ts";
import type { Service } from "./service.ts";
import { formatJsonLine } from "./show-results.ts";
import { createStatusLines } from "./status-lines.ts";
import { getColumns, quoteForShell } from "./terminal.ts";

/** Writes the results to a file, or to standard output. A file gets its name only when it is complete. */
const writeResults = async (
  file: string | undefined,
  force: boolean,
  pieces: Pieces,
): Promise<void> => {
  if (file === undefined) {
    for await (const piece of pieces) await writeOutput(process.stdout, piece);
    return;
  }
  removeDrafts(file);
  const draft = `${getDraftPrefix(file)}${randomUUID()}`;
  try {
    await writeDraft(draft, pieces);
    if (force) renameSync(draft, resolveTarget(file));
    else if (!linkNewFile(draft, file)) throw new UsageError(formatAlreadyExists(file));
  } finally {
    rmSync(draft, { force: true });
  }
};

const getDraftPrefix = (file: string): string => `${file}.mailproof-draft-`;

const removeDrafts = (file: string): void => {
  const prefix = basename(getDraftPrefix(file));
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(prefix)) rmSync(join(dirname(file), name), { force: true });
};

/** Flushes the draft: the command removes the state file afterwards, so the results must survive a power cut. */
const writeDraft = (draft: string, pieces: Pieces): Promise<void> =>
  pipeline(pieces, createWriteStream(draft, { flags: "wx", flush: true }));

const resolveTarget = (file: string): string => {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
};

export const OUTPUT = {
  out: describeOption(
    v.optional(NotEmpty),
    "writes the results to this file: .csv, .xlsx or .jsonl, by its ending",
    { value: "FILE", short: "o" },
  ),
  json: describeOption(Flag, "writes one result per line with the API's fields"),
  force: describeOption(Flag, "replaces an existing output", { short: "f" }),
};

export const FOLLOW = {
  ...OUTPUT,
  partial: describeOption(Flag, "writes the rows that are finished now; the job continues"),
  "no-wait": describeOption(Flag, "does not wait for the results"),
};

export type ResultOptions = {
  readonly out: string | undefined;
  readonly kind: OutputKind;
  readonly force: boolean;
  readonly partial: boolean;
  readonly failOn?: readonly Status[] | undefined;
  readonly signal: AbortSignal;
};

/** Waits for a job unless partial results are wanted, and writes its results. Returns exit code 1 without results. */
export const followJob = async (
  { client, url }: Service,
  id: string,
  options: ResultOptions,
  stateFile?: string,
): Promise<number> => {
  const job = options.partial
    ? await readJob(client, id, options.signal)
    : await waitForAllRows(client, id, options.signal);
  if (options.partial && isOpen(job)) return writePartial(client, url, job, options);
  const hasRows =
    job.status === "completed" || (job.status === "cancelled" && job.progress.processed > 0);
  const summary = createResultSummary();
  if (hasRows) await writeRows(client, id, options, summary);
  if (stateFile !== undefined) removeState(stateFile);
  if (hasRows && options.out !== undefined) removeJobState(getStateFile(options.out, ""), id);
  if (job.status !== "completed") {
    process.stderr.write(`${formatEnd(job, hasRows)}\n`);
    return EXIT_CODES.noResult.code;
  }
  writeNote(`${formatSummary(job)}\n${summary.format()}`);
  return summary.getExitCode(options.failOn);
};

/** A child job verifies rows again, so their results wait for it. */
const waitForAllRows = async (client: Client, id: string, signal: AbortSignal): Promise<Job> => {
  const job = await waitForJob(client, id, signal);
  if (job.child_job_id === undefined) return job;
  await waitForJob(client, job.child_job_id, signal);
  return readJob(client, id, signal);
};

const formatEnd = (job: Job, hasRows: boolean): string => {
  const { job_id, status, progress, error = "" } = job;
  if (status !== "cancelled")
    return `${job_id}: ${status}. ${error} Verify the list again to start a new job.`;
  const rows = hasRows
    ? `The ${formatCount(progress.processed)} of ${formatCount(progress.total)} rows with a result are written.`
    : "It has no row with a result.";
  return `${job_id} was cancelled. ${rows} The credits of the others were refunded; verify the list again for them.`;
};

const OPEN: readonly Job["status"][] = ["pending", "processing", "enqueue_unknown"];
export const isOpen = ({ status }: Job): boolean => OPEN.includes(status);

export const readJob = (client: Client, id: string, signal: AbortSignal): Promise<Job> =>
  client.getJob({ id, include_results: false }, { signal });

export const waitForJob = (client: Client, id: string, signal: AbortSignal): Promise<Job> => {
  const lines = createStatusLines(process.stderr);
  const formatParts = createJobProgress();
  const onProgress =
    process.stderr.isTTY && !areNotesSilent()
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
  if (isAny) await writeRows(client, id, options, createResultSummary());
  const progressText = `${formatCount(progress.processed)} of ${formatCount(progress.total)} rows are finished (${getPercent(progress)}%).`;
  const waiting = deferred === undefined ? "" : ` ${formatDeferred(deferred, new Date())}.`;
  const how = formatFollowCommand(url, id, {
    ...options,
    force: options.out !== undefined && isAny,
  });
  process.stderr.write(`${progressText}${waiting} ${id} continues. For all rows:\n\n  ${how}\n`);
  return (isAny ? EXIT_CODES.done : EXIT_CODES.noResult).code;
};

const writeRows = async (
  client: Client,
  id: string,
  { out, kind, force, partial, signal }: ResultOptions,
  summary: ResultSummary,
): Promise<void> => {
  const pieces =
    kind === "json"
      ? toJsonLines(client.results({ id }, { signal, wait: !partial }), summary)
      : await toTable((await client.download({ id }, { signal })).stream, kind, summary);
  await writeResults(out, force, pieces);
};

async function* toJsonLines(
  rows: AsyncIterable<ResultRow>,
  summary: ResultSummary,
): AsyncGenerator<string> {
  for await (const row of rows) {
    summary.add(row);
    yield formatJsonLine(row);
  }
}

const toTable = async (csv: Pieces, kind: OutputKind, summary: ResultSummary): Promise<Pieces> => {
  const read = await readResultTable(csv, summary);
  if (kind === "spreadsheet" && read.table) return formatSpreadsheetTable(read.table);
  if (kind === "spreadsheet")
    throw new Error("The service sent no table of results. Choose an --out that ends with .csv.");
  return read.table ? formatCsvTable(read.table) : read.pieces;
};

const formatSummary = ({ progress }: Job): string => {
  const { total, valid, invalid, risky, unknown } = progress;
  const addresses = total === 1 ? "1 address" : `${formatCount(total)} addresses`;
  return `${addresses}: ${formatCount(valid)} valid, ${formatCount(invalid)} invalid, ${formatCount(risky)} risky, role or catch-all, ${formatCount(unknown)} unknown.`;
};

export const formatFollowCommand = (
  url: string,
  id: string,
  { out, kind, force }: Pick<ResultOptions, "out" | "kind" | "force">,
): string =>
  [
    `${PROGRAM} jobs ${id} --api ${url}`,
    ...(out === undefined ? [] : [`--out ${quoteForShell(out)}`]),
    ...(force ? ["--force"] : []),
    ...(kind === "json" ? ["--json"] : []),
  ].join(" ");

/** The job does not exist, or belongs to another account. */
const DENIED: readonly ErrorCode[] = ["INVALID_REQUEST", "UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND"];

/** A job continues without this process, so the message contains the command that waits for the job again. */
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
    return options.signal.aborted ? EXIT_CODES.interrupted.code : getExitCode(error);
  });

/** Throws the error unchanged without a job to continue. */
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
