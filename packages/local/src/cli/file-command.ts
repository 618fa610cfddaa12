import { statSync } from "node:fs";
import { MailproofError } from "@mailproof/client/errors";
import * as v from "valibot";
import { defineCommand, UsageError } from "./define-command.ts";
import {
  explainHowToFollow,
  FOLLOW,
  FOLLOW_FLAGS,
  followJob,
  formatFollowCommand,
  isJsonOutput,
} from "./follow-job.ts";
import {
  assertSameInputs,
  getStateFile,
  hashFile,
  hashText,
  type JobState,
  readState,
  removeState,
} from "./job-state.ts";
import { assertWritable } from "./output.ts";
import { requireService, SERVICE, SERVICE_USAGE, type Service, watchInterrupt } from "./service.ts";
import { type ListSubmission, resubmitList, submitList } from "./submit-list.ts";

const USAGE =
  "LIST.csv [--out FILE] [--column NAME] [--max-wait MINUTES] [--json] [--force] [--partial | --no-wait]";

const MINUTES_MESSAGE = "must be a number of minutes from 0 to 60";
const Minutes = v.pipe(
  v.string(),
  v.regex(/^\d{1,2}$/, MINUTES_MESSAGE),
  v.transform(Number),
  v.maxValue(60, MINUTES_MESSAGE),
);

/** A list, verified by a service. Exit code 1: it was interrupted, or the job failed. */
export const fileCommand = defineCommand({
  name: "file",
  usage: `${USAGE} ${SERVICE_USAGE}`,
  options: v.strictObject({
    column: v.optional(v.string()),
    "max-wait": v.optional(Minutes),
    ...FOLLOW,
    ...SERVICE,
  }),
  flags: FOLLOW_FLAGS,
  takesWords: true,
  async run(input) {
    const { options, words } = input;
    const [file, ...others] = words;
    if (file === undefined) throw new UsageError(`Missing file. Usage: mailproof file ${USAGE}`);
    if (others.length > 0)
      throw new UsageError(`One file at a time. Usage: mailproof file ${USAGE}`);
    const { "no-wait": noWait, "max-wait": maxWait, ...sent } = options;
    if (noWait && (options.out !== undefined || options.partial))
      throw new UsageError("--no-wait writes no results. Leave out --out and --partial.");
    const service = requireService(input, `mailproof verify --file ${file}`);
    return verifyFileByService(service, file, { ...sent, noWait, maxWait });
  },
});

export type FileCommandOptions = {
  readonly column?: string | undefined;
  /** Minutes after which the rows that still wait become unknown. */
  readonly maxWait?: number | undefined;
  readonly out?: string | undefined;
  readonly json: boolean;
  readonly force: boolean;
  readonly partial?: boolean;
  readonly noWait?: boolean;
};

/** Uploads the list, or goes on with the job that an earlier start of this command began; writes the results. */
export const verifyFileByService = async (
  service: Service,
  file: string,
  { column, maxWait, out, force, partial = false, noWait = false, ...options }: FileCommandOptions,
): Promise<number> => {
  assertIsFile(file);
  const stateFile = getStateFile(out, file);
  const state = readState(stateFile);
  if (state && out !== undefined && !force) assertOutMissing(out, state);
  const assertOutWritable = () => assertWritable(out, { force, list: file });
  assertOutWritable();
  const inputs = {
    api: service.url,
    key_sha256: hashText(service.key),
    list_sha256: await hashFile(file),
    email_column: column,
    max_wait_minutes: maxWait,
  };
  if (state) assertSameInputs(stateFile, state, inputs);

  const { signal, end } = watchInterrupt();
  const json = isJsonOutput({ ...options, out });
  try {
    const list = { file, stateFile, inputs, assertOutWritable };
    const id = await resolveJobId(service, list, state, signal);
    if (noWait) return endWithoutWaiting(service, id, json, stateFile);
    const wanted = { out, json, force, partial, signal };
    const following = followJob(service, id, wanted, stateFile).catch(
      explainMissingJob(state, stateFile),
    );
    return await explainHowToFollow(service, id, wanted, following);
  } finally {
    end();
  }
};

const assertIsFile = (file: string): void => {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new UsageError(`No such file: ${file}`);
  if (found.isDirectory()) throw new UsageError(`${file} is a folder, not a list.`);
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
    process.stderr.write(
      `${state.job_id}: resuming the job that this command started at ${state.started_at}. Nothing is charged again. To start a new job, remove ${list.stateFile}.\n`,
    );
    return state.job_id;
  }
  const accepted = await (state
    ? resubmitList(service, list, state, signal)
    : submitList(service, list, signal));
  return accepted.job_id ?? "";
};

/** For scripts: the id alone on standard output. */
const endWithoutWaiting = (
  { url }: Service,
  id: string,
  json: boolean,
  stateFile: string,
): number => {
  process.stdout.write(`${json ? JSON.stringify({ job_id: id }) : id}\n`);
  const how = formatFollowCommand(url, id, { out: undefined, json: false, force: false });
  process.stderr.write(`To wait for its results:\n\n  ${how}\n`);
  // The caller has the id, so the next start is a new job.
  removeState(stateFile);
  return 0;
};

/** A job is deleted when the plan's retention is over. */
const explainMissingJob =
  (state: JobState | undefined, stateFile: string) =>
  (error: unknown): never => {
    if (state === undefined || !(error instanceof MailproofError) || error.code !== "NOT_FOUND")
      throw error;
    throw new UsageError(
      `${state.job_id} no longer exists on the service. To start a new job, which is charged, remove ${stateFile}.`,
    );
  };
