import type { Job } from "@mailproof/client/types";
import * as v from "valibot";
import { command, Flag, Misuse } from "./command.ts";
import { explainHowToFollow, followJob, readJob } from "./follow-job.ts";
import { deferredIn, percentOf } from "./job-progress.ts";
import { assertWritable } from "./out.ts";
import { count } from "./progress.ts";
import {
  SERVICE,
  SERVICE_USAGE,
  type Service,
  serviceNeeded,
  untilInterrupted,
} from "./service.ts";
import { shown } from "./terminal.ts";

const NEWEST = 20;
const USAGE = "[JOB [--out FILE] [--force] [--partial | --no-wait]] [--json]";

/** The newest jobs of a service; or one of them, waited for, and its results. */
export const jobsCommand = command({
  name: "jobs",
  usage: `${USAGE} ${SERVICE_USAGE}`,
  options: v.strictObject({
    out: v.optional(v.string()),
    json: Flag,
    force: Flag,
    partial: Flag,
    "no-wait": Flag,
    ...SERVICE,
  }),
  flags: ["json", "force", "partial", "no-wait"],
  takesWords: true,
  async run(asked) {
    const { options, words } = asked;
    const [id, ...others] = words;
    const { out, json, force, partial, "no-wait": noWait } = options;
    if (others.length > 0) throw new Misuse(`One job at a time. Usage: mailproof jobs ${USAGE}`);
    if (id === undefined && (out !== undefined || partial || noWait))
      throw new Misuse(`Missing job. Usage: mailproof jobs ${USAGE}`);
    if (noWait && (out !== undefined || partial))
      throw new Misuse(
        "--no-wait shows the job without its results. Leave out --out and --partial.",
      );
    const service = serviceNeeded(asked);
    if (id === undefined) return list(service, json);
    assertWritable(out, { force });
    const { signal, end } = untilInterrupted();
    if (noWait) return showJob(service, id, json, signal).finally(end);
    const wanted = { out, json: json || out?.endsWith(".jsonl") === true, force, partial, signal };
    const following = followJob(service, id, wanted);
    return explainHowToFollow(service, id, wanted, following).finally(end);
  },
});

const list = async ({ client }: Service, json: boolean): Promise<number> => {
  const { jobs } = await client.listJobs({ limit: NEWEST });
  print(jobs, json);
  if (process.stdout.isTTY && !json && jobs.length === 0) process.stdout.write("No jobs yet.\n");
  return 0;
};

const showJob = async (
  { client }: Service,
  id: string,
  json: boolean,
  signal: AbortSignal,
): Promise<number> => {
  const job = await readJob(client, id, signal);
  print([job], json);
  return job.status === "failed" ? 1 : 0;
};

const print = (jobs: readonly Job[], json: boolean): void => {
  const isForEyes = process.stdout.isTTY && !json;
  const lines = jobs.map((job) => (isForEyes ? lineOf(job) : JSON.stringify(job)));
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
};

const lineOf = (job: Job): string => {
  const { job_id, status, progress, created_at, name = "", deferred } = job;
  return [
    job_id,
    status.padEnd(10),
    `${percentOf(progress)}%`.padStart(4),
    `${count(progress.processed)} of ${count(progress.total)}`,
    created_at.slice(0, 16).replace("T", " "),
    ...(name === "" ? [] : [shown(name)]),
    ...(deferred === undefined ? [] : [deferredIn(deferred, new Date())]),
  ].join("  ");
};
