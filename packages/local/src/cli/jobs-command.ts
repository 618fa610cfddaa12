import type { Job } from "@mailproof/client/types";
import { STATUSES } from "@mailproof/core/verify/result";
import * as v from "valibot";
import { NotEmpty } from "../environment.ts";
import { PROGRAM } from "../installation.ts";
import { defineCommand, describeOption, Flag, UsageError } from "./define-command.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { explainHowToFollow, FOLLOW, followJob, readJob } from "./follow-job.ts";
import { formatDeferred, getPercent } from "./job-progress.ts";
import { writeNote } from "./notes.ts";
import { assertWritable } from "./output.ts";
import { getOutputKind } from "./print-results.ts";
import { formatCount } from "./progress.ts";
import { QUIET, requireService, SERVICE, type Service, watchInterrupt } from "./service.ts";
import { replaceControls } from "./terminal.ts";

const NEWEST = 20;
const USAGE = "[JOB | cancel JOB] [options]";

/** Lists a service's newest jobs, or follows a job and writes its results, or cancels a job. */
export const jobsCommand = defineCommand({
  usage: USAGE,
  options: v.strictObject({
    ...FOLLOW,
    again: describeOption(
      Flag,
      "verifies the rows of --rows again, a credit for each; then as without it",
    ),
    rows: describeOption(
      v.optional(NotEmpty),
      "with --again: a status such as unknown, or terms such as reason:timeout,score:0-49",
      { value: "FILTER" },
    ),
    ...QUIET,
    ...SERVICE,
  }),
  examples: [
    "jobs",
    "jobs job_123 --out results.csv",
    "jobs job_123 --rows unknown --again --out results.csv",
    "jobs cancel job_123",
  ],
  takesWords: true,
  async run(input) {
    const { options } = input;
    const isCancelling = input.words[0] === "cancel";
    const [id, ...others] = isCancelling ? input.words.slice(1) : input.words;
    const { out, json, force, partial, "no-wait": noWait, again, rows } = options;
    if (others.length > 0)
      throw new UsageError(`One job at a time. Usage: ${PROGRAM} jobs ${USAGE}`);
    if (id === undefined && (isCancelling || out !== undefined || partial || noWait))
      throw new UsageError(`Missing job. Usage: ${PROGRAM} jobs ${USAGE}`);
    if (noWait && (out !== undefined || partial))
      throw new UsageError(
        "--no-wait shows the job without its results. Leave out --out and --partial.",
      );
    if (again !== (rows !== undefined))
      throw new UsageError("--again and --rows go together: --rows unknown --again.");
    if (again && (id === undefined || partial))
      throw new UsageError("--again needs a job, and takes no --partial.");
    if (isCancelling && (out !== undefined || force || partial || noWait || again))
      throw new UsageError("cancel takes no --out, --force, --partial, --no-wait or --again.");
    const kind = getOutputKind(options);
    const service = requireService(input);
    if (id !== undefined && isCancelling) return cancelJob(service, id, json);
    if (id === undefined) return printNewestJobs(service, json);
    assertWritable(out, { force });
    if (rows !== undefined) await verifyAgain(service, id, rows);
    const { signal, end } = watchInterrupt();
    if (noWait) return showJob(service, id, json, signal).finally(end);
    const wanted = { out, kind, force, partial, signal };
    const following = followJob(service, id, wanted);
    return explainHowToFollow(service, id, wanted, following).finally(end);
  },
});

const printNewestJobs = async ({ client }: Service, json: boolean): Promise<number> => {
  const { jobs } = await client.listJobs({ limit: NEWEST });
  printJobs(jobs, json);
  if (process.stdout.isTTY && !json && jobs.length === 0)
    process.stdout.write(`No jobs yet. "${PROGRAM} file LIST" starts one.\n`);
  return EXIT_CODES.done.code;
};

const cancelJob = async ({ client }: Service, id: string, json: boolean): Promise<number> => {
  printJobs([await client.cancelJob({ id })], json);
  return EXIT_CODES.done.code;
};

const verifyAgain = async ({ client }: Service, id: string, rows: string): Promise<void> => {
  const filter = STATUSES.some((status) => status === rows) ? `status:${rows}` : rows;
  const child = await client.verifyAgain({ id, filter });
  const many = child.rows === 1 ? "1 row is" : `${formatCount(child.rows)} rows are`;
  const price = `${child.credits_used} ${child.credits_used === 1 ? "credit" : "credits"}`;
  writeNote(`${many} verified again as ${child.job_id}, for ${price}.\n`);
};

const showJob = async (
  { client }: Service,
  id: string,
  json: boolean,
  signal: AbortSignal,
): Promise<number> => {
  const job = await readJob(client, id, signal);
  printJobs([job], json);
  return (job.status === "failed" ? EXIT_CODES.noResult : EXIT_CODES.done).code;
};

const printJobs = (jobs: readonly Job[], json: boolean): void => {
  const isInteractive = process.stdout.isTTY && !json;
  const lines = jobs.map((job) => (isInteractive ? formatLine(job) : JSON.stringify(job)));
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
};

const formatLine = (job: Job): string => {
  const { job_id, status, progress, created_at, name = "", deferred } = job;
  return [
    job_id,
    status.padEnd(10),
    `${getPercent(progress)}%`.padStart(4),
    `${formatCount(progress.processed)} of ${formatCount(progress.total)}`,
    created_at.slice(0, 16).replace("T", " "),
    ...(name === "" ? [] : [replaceControls(name)]),
    ...(deferred === undefined ? [] : [formatDeferred(deferred, new Date())]),
  ].join("  ");
};
