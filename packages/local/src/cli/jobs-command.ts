import type { Job } from "@mailproof/client/types";
import * as v from "valibot";
import { defineCommand, UsageError } from "./define-command.ts";
import {
  explainHowToFollow,
  FOLLOW,
  FOLLOW_FLAGS,
  followJob,
  isJsonOutput,
  readJob,
} from "./follow-job.ts";
import { formatDeferred, getPercent } from "./job-progress.ts";
import { assertWritable } from "./output.ts";
import { formatCount } from "./progress.ts";
import { requireService, SERVICE, SERVICE_USAGE, type Service, watchInterrupt } from "./service.ts";
import { replaceControls } from "./terminal.ts";

const NEWEST = 20;
const USAGE = "[cancel JOB | JOB [--out FILE] [--force] [--partial | --no-wait]] [--json]";

/** The newest jobs of a service; or one of them, waited for, and its results; or one that is cancelled. */
export const jobsCommand = defineCommand({
  name: "jobs",
  usage: `${USAGE} ${SERVICE_USAGE}`,
  options: v.strictObject({
    ...FOLLOW,
    ...SERVICE,
  }),
  flags: FOLLOW_FLAGS,
  takesWords: true,
  async run(input) {
    const { options } = input;
    const isCancelling = input.words[0] === "cancel";
    const [id, ...others] = isCancelling ? input.words.slice(1) : input.words;
    const { out, json, force, partial, "no-wait": noWait } = options;
    if (others.length > 0)
      throw new UsageError(`One job at a time. Usage: mailproof jobs ${USAGE}`);
    if (id === undefined && (isCancelling || out !== undefined || partial || noWait))
      throw new UsageError(`Missing job. Usage: mailproof jobs ${USAGE}`);
    if (noWait && (out !== undefined || partial))
      throw new UsageError(
        "--no-wait shows the job without its results. Leave out --out and --partial.",
      );
    if (isCancelling && (out !== undefined || force || partial || noWait))
      throw new UsageError("cancel takes no --out, --force, --partial or --no-wait.");
    const service = requireService(input);
    if (id !== undefined && isCancelling) return cancelJob(service, id, json);
    if (id === undefined) return printNewestJobs(service, json);
    assertWritable(out, { force });
    const { signal, end } = watchInterrupt();
    if (noWait) return showJob(service, id, json, signal).finally(end);
    const wanted = { out, json: isJsonOutput(options), force, partial, signal };
    const following = followJob(service, id, wanted);
    return explainHowToFollow(service, id, wanted, following).finally(end);
  },
});

const printNewestJobs = async ({ client }: Service, json: boolean): Promise<number> => {
  const { jobs } = await client.listJobs({ limit: NEWEST });
  printJobs(jobs, json);
  if (process.stdout.isTTY && !json && jobs.length === 0) process.stdout.write("No jobs yet.\n");
  return 0;
};

const cancelJob = async ({ client }: Service, id: string, json: boolean): Promise<number> => {
  printJobs([await client.cancelJob({ id })], json);
  return 0;
};

const showJob = async (
  { client }: Service,
  id: string,
  json: boolean,
  signal: AbortSignal,
): Promise<number> => {
  const job = await readJob(client, id, signal);
  printJobs([job], json);
  return job.status === "failed" ? 1 : 0;
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
