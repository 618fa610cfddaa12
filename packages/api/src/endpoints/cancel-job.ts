import { cancelJob as endByCancelling } from "@mailproof/core/lists/cancel-job";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import { JobSummary, readJobSummary, requireJob } from "../schema/jobs.ts";

export const cancelJob = endpoint({
  id: "cancelJob",
  route: "POST /v1/jobs/{id}/cancel",
  tag: "Jobs",
  addition:
    "The contract has the status cancelled, and no way to reach it: a wrong list could not be stopped.",
  summary:
    "Cancel a job. Addresses without a result are not verified, and their credits are refunded.",
  access: "verification:write",
  tool: {
    effect: "destructive",
    hint: "Ask the user first: a cancelled job cannot be resumed. Its results stay, and are charged.",
  },
  repeat: "always",
  errors: ["NOT_FOUND", "NOT_READY", "JOB_ENDED"],

  path: v.strictObject({ id: describe(Id, "The job's id (`job_id`).") }),
  output: JobSummary,

  async handle(world, caller, { path }) {
    const job = await requireJob(world, caller, path.id);
    return ok(await readJobSummary(world, await endByCancelling(world, job)));
  },
});
