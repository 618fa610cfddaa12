import { getExistingAccount } from "@mailproof/core/accounts/accounts";
import { Failure } from "@mailproof/core/lib/failure";
import { cancelJob } from "@mailproof/core/lists/cancel-job";
import { listJobs } from "@mailproof/core/lists/list-jobs";
import { toCredits } from "@mailproof/core/money/credits";
import { getOwnerId, KEY_MODES } from "@mailproof/core/money/payer";
import { type PagePosition, readPosition } from "@mailproof/core/ports/table";
import { findJob, JOB_STATUSES, type Job } from "@mailproof/core/rows/items";
import { getRefundedPrice } from "@mailproof/core/rows/refunds";
import * as v from "valibot";
import { passing } from "../environment.ts";
import { Limit } from "./amounts.ts";
import { definePortable, Name } from "./define-admin.ts";

/** A position is JSON, which a shell would split. */
const toCursor = (position: PagePosition): string => Buffer.from(position).toString("base64url");
const readCursor = (cursor: string): PagePosition =>
  Buffer.from(cursor, "base64url").toString() as PagePosition;

const isCursor = (text: string): boolean => {
  try {
    return readPosition(readCursor(text)).every((part) => typeof part === "string");
  } catch {
    return false;
  }
};

/** Shows the facts that an operator needs for a question about a job, without its input and results. */
const formatJob = (job: Job) => ({
  job_id: job.id,
  kind: job.kind,
  mode: job.mode,
  status: job.status,
  created_at: job.createdAt,
  completed_at: job.completedAt ?? null,
  total: job.total,
  processed: job.processed,
  credits_refunded: job.mode === "live" ? toCredits(getRefundedPrice(job)) : 0,
});

export const jobDefinitions = {
  "admin jobs list": definePortable({
    usage: "--account A [--mode live|test] [--status S] [--limit N] [--after CURSOR]",
    options: v.strictObject({
      account: Name,
      mode: v.optional(v.picklist(KEY_MODES, "must be live or test"), "live"),
      status: v.optional(v.picklist(JOB_STATUSES, `must be one of ${JOB_STATUSES.join(", ")}`)),
      limit: v.optional(Limit, "50"),
      after: v.optional(passing(isCursor, "must be a next of this list")),
    }),
    async run({ table }, { account, mode, status, limit, after }) {
      await getExistingAccount(table, account);
      const filter = { owner: getOwnerId({ account, mode }), status };
      const start = after === undefined ? undefined : readCursor(after);
      const { jobs, next } = await listJobs(table, filter, { limit, after: start });
      return { output: { jobs: jobs.map(formatJob), next: next ? toCursor(next) : null } };
    },
  }),

  "admin jobs cancel": definePortable({
    usage: "--job J",
    options: v.strictObject({ job: Name }),
    async run(world, { job: id }) {
      const job = await findJob(world.table, id);
      if (!job) throw new Failure("NOT_FOUND", "nothing_charged", `No job ${id}.`);
      return { output: formatJob(await cancelJob(world, job)) };
    },
  }),
};
