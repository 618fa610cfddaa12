import { listCallbacks as readCallbacks } from "@mailproof/core/webhooks/delivery-log";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { requireJob } from "../schema/jobs.ts";
import { DeliverySummary, toDeliverySummary } from "../schema/webhooks.ts";

export const listCallbacks = endpoint({
  id: "listCallbacks",
  route: "GET /v1/jobs/{id}/callbacks",
  tag: "Jobs",
  addition: "The contract has the callback of a job, but nothing shows whether it arrived.",
  summary:
    "List the deliveries to the webhook_url of a job, newest first. They are stored for 30 days.",
  access: "verification:read",
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The job's id (`job_id`).") }),
  output: v.object({
    webhook_url: field.maybeText(
      "The URL that is called when the job ends. Left out when the job has none.",
    ),
    deliveries: describe(v.array(DeliverySummary), "The deliveries, newest first."),
  }),

  async handle(world, caller, { path }) {
    const { id, callback } = await requireJob(world, caller, path.id);
    const deliveries = await readCallbacks(world.table, id);
    return ok({
      ...(callback && { webhook_url: callback.url }),
      deliveries: deliveries.map(toDeliverySummary),
    });
  },
});
