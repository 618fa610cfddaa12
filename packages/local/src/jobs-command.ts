import type { Job } from "@mailproof/client/types";
import * as v from "valibot";
import { command, Flag, Misuse } from "./command.ts";
import { followJob, orToldHowToGoOn } from "./follow-job.ts";
import { assertFree } from "./out.ts";
import {
  SERVICE,
  SERVICE_USAGE,
  type Service,
  serviceNeeded,
  untilInterrupted,
} from "./service.ts";
import { shown } from "./terminal.ts";

const NEWEST = 20;

/** The newest jobs of a service; or one of them, waited for, and its results. */
export const jobsCommand = command({
  name: "jobs",
  usage: `[job_…] [--out results.csv] [--json]   ${SERVICE_USAGE}`,
  options: v.strictObject({ out: v.optional(v.string()), json: Flag, ...SERVICE }),
  flags: ["json"],
  takesWords: true,
  async run(asked) {
    const { options, words } = asked;
    const [id, ...others] = words;
    const { out, json } = options;
    if (others.length > 0 || (id === undefined && out !== undefined))
      throw new Misuse("Name one job, or none to see the newest.");
    const service = serviceNeeded(asked);
    if (id === undefined) return list(service, json);
    assertFree(out);
    const { signal, end } = untilInterrupted();
    const wanted = { out, json: json || out?.endsWith(".jsonl") === true, signal };
    return orToldHowToGoOn(service, id, wanted, followJob(service, id, wanted)).finally(end);
  },
});

const list = async ({ client }: Service, json: boolean): Promise<number> => {
  const { jobs } = await client.listJobs({ limit: NEWEST });
  const isForEyes = process.stdout.isTTY && !json;
  const lines = jobs.map((job) => (isForEyes ? lineOf(job) : JSON.stringify(job)));
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  if (isForEyes && lines.length === 0) process.stdout.write("There are no jobs.\n");
  return 0;
};

const lineOf = ({ job_id, status, progress, created_at, name = "" }: Job): string =>
  `${job_id}  ${status.padEnd(10)}  ${progress.processed} of ${progress.total}  ${created_at}  ${shown(name)}`.trimEnd();
