import { isDeleted, deleteJob as removeJob } from "@mailproof/core/erasure/delete-job";
import { getOwnerId } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { findOwnJob, noSuchJob } from "../schema/jobs.ts";

export const deleteJob = endpoint({
  id: "deleteJob",
  route: "DELETE /v1/jobs/{id}",
  tag: "Jobs",
  addition:
    "The contract has no way to remove a list and its results before the plan's retention ends.",
  summary:
    "Delete a job that has ended: its list, its results and its exports. Its charge stays in the account's usage.",
  access: "verification:write",
  needs: ["table:readwrite", "blobs:read", "blobs:write"],
  tool: {
    effect: "destructive",
    hint: "Ask the user first: the list, the results and every link to an export are gone. Cancel a running job first.",
  },
  errors: ["NOT_FOUND", "JOB_OPEN"],

  path: v.strictObject({ id: describe(Id, "The job's id (`job_id`).") }),
  output: v.object({
    job_id: field.text("The job's id."),
    deleted: describe(v.literal(true), "Always true."),
  }),

  async handle(world, caller, { path: { id } }) {
    const job = await findOwnJob(world, caller, id);
    if (job) await removeJob(world, job);
    else if (!(await isDeleted(world, getOwnerId(caller), id))) throw noSuchJob();
    return ok({ job_id: id, deleted: true as const });
  },
});
