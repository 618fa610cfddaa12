import { statSync } from "node:fs";
import { basename } from "node:path";
import { MailproofError } from "@mailproof/client/errors";
import type { Status } from "@mailproof/core/verify/result";
import { MAX_WAIT_MINUTES } from "@mailproof/core/verify/retry";
import * as v from "valibot";
import { PROGRAM } from "../installation.ts";
import { defineCommand, describeOption, Flag, UsageError } from "./define-command.ts";
import { countList, DRY_RUN, printComparison, printQuote } from "./dry-run.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { explainHowToFollow, FOLLOW, followJob, formatFollowCommand } from "./follow-job.ts";
import {
  assertSameInputs,
  getStateFile,
  hashFile,
  hashText,
  type JobState,
  type ListFields,
  readState,
  removeState,
} from "./job-state.ts";
import { COLUMN, type ListFile, openListFile, STANDARD_INPUT } from "./list-file.ts";
import { writeNote } from "./notes.ts";
import { assertWritable } from "./output.ts";
import { getOutputKind, type OutputKind } from "./print-results.ts";
import { QUIET, requireService, SERVICE, type Service, watchInterrupt } from "./service.ts";
import { type ListSubmission, previewList, resubmitList, submitList } from "./submit-list.ts";
import { quoteForShell } from "./terminal.ts";

const MINUTES_MESSAGE = `must be a number of minutes from 0 to ${MAX_WAIT_MINUTES.most}`;
const Minutes = v.pipe(
  v.string(),
  v.regex(/^\d{1,4}$/, MINUTES_MESSAGE),
  v.transform(Number),
  v.maxValue(MAX_WAIT_MINUTES.most, MINUTES_MESSAGE),
);

const DAYS_MESSAGE = "must be a number of days from 0 to 100";
const Days = v.pipe(
  v.string(),
  v.regex(/^\d{1,3}$/, DAYS_MESSAGE),
  v.transform(Number),
  v.maxValue(100, DAYS_MESSAGE),
);

const USAGE = "LIST [options]";

export const fileCommand = defineCommand({
  usage: USAGE,
  options: v.strictObject({
    ...COLUMN,
    "max-wait": describeOption(
      v.optional(Minutes),
      `minutes from 0 to ${MAX_WAIT_MINUTES.most} after which rows that are still deferred become unknown (default: ${MAX_WAIT_MINUTES.default})`,
      { value: "MINUTES" },
    ),
    continues: describeOption(
      v.optional(v.string()),
      "the job of an earlier version of the list: an address with a good result there keeps it and costs nothing",
      { value: "JOB" },
    ),
    "fresh-days": describeOption(
      v.optional(Days),
      "with --continues: for how many days a result stays good (default: 30)",
      { value: "DAYS" },
    ),
    "skip-settled": describeOption(
      Flag,
      "leaves out, at no charge, rows that another service has settled by a column of the list, such as ZB Status",
    ),
    ...FOLLOW,
    ...DRY_RUN,
    ...QUIET,
    ...SERVICE,
  }),
  examples: [
    "file list.csv --out results.csv",
    "file customers.xlsx --sheet Customers --sheet Partners --out results.xlsx",
    'file list.csv --column "work email" --column "home email"',
    "file list.csv --dry-run",
    "file next-week.csv --continues job_123 --out results.csv",
    "file - --json < list.csv",
  ],
  takesWords: true,
  async run(input) {
    const { options, words } = input;
    const [file, ...others] = words;
    if (file === undefined) throw new UsageError(`Missing file. Usage: ${PROGRAM} file ${USAGE}`);
    if (others.length > 0)
      throw new UsageError(`One file at a time. Usage: ${PROGRAM} file ${USAGE}`);
    const { "no-wait": noWait, "max-wait": maxWait, "dry-run": dryRun, ...more } = options;
    const { "fresh-days": freshDays, "skip-settled": skipSettled, ...sent } = more;
    if (freshDays !== undefined && sent.continues === undefined)
      throw new UsageError("--fresh-days goes with --continues JOB.");
    if (noWait && (options.out !== undefined || options.partial))
      throw new UsageError("--no-wait writes no results. Leave out --out and --partial.");
    const service = requireService(input, `${PROGRAM} verify --file ${quoteForShell(file)}`);
    return verifyFileByService(service, file, {
      ...sent,
      noWait,
      maxWait,
      dryRun,
      freshDays,
      skipSettled,
    });
  },
});

export type FileCommandOptions = {
  readonly column?: readonly string[] | undefined;
  readonly sheet?: readonly string[] | undefined;
  readonly maxWait?: number | undefined;
  readonly continues?: string | undefined;
  readonly freshDays?: number | undefined;
  readonly skipSettled?: boolean;
  readonly out?: string | undefined;
  readonly json: boolean;
  readonly force: boolean;
  readonly partial?: boolean;
  readonly noWait?: boolean;
  readonly dryRun?: boolean;
  readonly failOn?: readonly Status[] | undefined;
};

export const verifyFileByService = async (
  service: Service,
  name: string,
  options: FileCommandOptions,
): Promise<number> => {
  const kind = getOutputKind(options);
  const { column: columns, sheet: sheets, skipSettled, json } = options;
  const list = await openListFile(name, { sheets, columns });
  try {
    if (options.dryRun && options.continues !== undefined) {
      const submission = { path: list.path, name: basename(list.name) };
      const preview = await previewList(service, submission, toFields(options));
      return await printComparison(service, preview, json);
    }
    if (options.dryRun)
      return await printQuote(
        service,
        "fileAddress",
        await countList(list, columns, skipSettled),
        json,
      );
    return await verifyList(service, list, options, kind);
  } finally {
    list.remove();
  }
};

const toFields = ({
  column,
  continues,
  freshDays,
  skipSettled,
}: FileCommandOptions): Omit<ListFields, "options"> => ({
  ...(column?.length === 1
    ? { email_column: column[0] }
    : { email_columns: column && [...column] }),
  continues,
  fresh_days: freshDays,
  ...(skipSettled && { skip_settled: true }),
});

const verifyList = async (
  service: Service,
  list: ListFile,
  options: FileCommandOptions,
  kind: OutputKind,
): Promise<number> => {
  const { maxWait, out, json, force, partial = false, noWait = false, failOn } = options;
  // A list from standard input without an output file leaves nothing to resume with.
  const isResumable = out !== undefined || list.name !== STANDARD_INPUT;
  const stateFile = getStateFile(out, isResumable ? list.name : list.path);
  const state = readState(stateFile);
  if (state && out !== undefined && !force) assertOutMissing(out, state);
  const original = list.name === STANDARD_INPUT ? undefined : list.name;
  const assertOutWritable = () => assertWritable(out, { force, list: original });
  assertOutWritable();
  const inputs = {
    api: service.url,
    key_sha256: hashText(service.key),
    list_sha256: await hashFile(list.path),
    fields: {
      ...toFields(options),
      ...(maxWait !== undefined && { options: { max_wait_minutes: maxWait } }),
    },
  };
  if (state) assertSameInputs(stateFile, state, inputs);

  const { signal, end } = watchInterrupt();
  try {
    const name = list.name === STANDARD_INPUT ? "standard input" : basename(list.name);
    const submission = { path: list.path, name, stateFile, inputs, assertOutWritable };
    const id = await resolveJobId(service, submission, state, signal);
    if (noWait) return endWithoutWaiting(service, id, json, stateFile);
    const wanted = { out, kind, force, partial, failOn, signal };
    const following = followJob(service, id, wanted, stateFile).catch(
      explainMissingJob(state, stateFile),
    );
    return await explainHowToFollow(service, id, wanted, following);
  } finally {
    end();
  }
};

const assertOutMissing = (out: string, { job_id = "a job" }: JobState): void => {
  if (!statSync(out, { throwIfNoEntry: false })) return;
  throw new UsageError(
    `${out} already exists, and ${job_id} was started for it. Add --force to replace it with the results of that job; nothing is charged again.`,
  );
};

const resolveJobId = async (
  service: Service,
  list: ListSubmission,
  state: JobState | undefined,
  signal: AbortSignal,
): Promise<string> => {
  if (state?.job_id !== undefined) {
    writeNote(
      `${state.job_id}: resuming the job that this command started at ${state.started_at}. Nothing is charged again. To start a new job, remove ${list.stateFile}.\n`,
    );
    return state.job_id;
  }
  const accepted = await (state
    ? resubmitList(service, list, state, signal)
    : submitList(service, list, signal));
  return accepted.job_id ?? "";
};

/** Scripts need only the id on standard output. */
const endWithoutWaiting = (
  { url }: Service,
  id: string,
  json: boolean,
  stateFile: string,
): number => {
  process.stdout.write(`${json ? JSON.stringify({ job_id: id }) : id}\n`);
  const how = formatFollowCommand(url, id, { out: undefined, kind: "csv", force: false });
  writeNote(`To wait for its results:\n\n  ${how}\n`);
  // The caller has the id, so the next start is a new job.
  removeState(stateFile);
  return EXIT_CODES.done.code;
};

/** The service deletes a job when the plan's retention is over. */
const explainMissingJob =
  (state: JobState | undefined, stateFile: string) =>
  (error: unknown): never => {
    if (state === undefined || !(error instanceof MailproofError) || error.code !== "NOT_FOUND")
      throw error;
    throw new UsageError(
      `${state.job_id} no longer exists on the service. To start a new job, which is charged, remove ${stateFile}.`,
    );
  };
