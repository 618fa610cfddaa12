import { countJobs, LISTED_KINDS, listJobs as readJobs } from "@mailproof/core/lists/list-jobs";
import { getOwnerId } from "@mailproof/core/money/payer";
import type { PagePosition } from "@mailproof/core/ports/table";
import { JOB_STATUSES } from "@mailproof/core/rows/items";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { JobSummary, readJobSummary } from "../schema/jobs.ts";
import { createLimit, Offset, PAGE_END, readOffset, toPageEnd } from "../schema/paging.ts";

const LIMIT = { default: 20, most: 100 };

export const listJobs = endpoint({
  id: "listJobs",
  route: "GET /v1/jobs",
  tag: "Jobs",
  summary: "List the jobs, newest first.",
  access: "verification:read",
  needs: ["table:readwrite", "cursor"],
  tool: { effect: "readOnly", hint: "Pass next_offset as offset to read the next page." },

  query: v.strictObject({
    limit: createLimit("jobs", LIMIT),
    status: describe(
      v.optional(v.picklist(JOB_STATUSES, `must be one of ${JOB_STATUSES.join(", ")}`)),
      "Only jobs in this state.",
    ),
    kind: describe(
      v.optional(v.picklist(LISTED_KINDS, `must be one of ${LISTED_KINDS.join(", ")}`)),
      "list: only batches and files. single: only verifications of one address, such as those of a form's visitors.",
    ),
    offset: Offset,
  }),
  output: v.object({
    jobs: describe(v.array(JobSummary), "The jobs, newest first."),
    total: field.count("Number of jobs."),
    total_is_approximate: field.boolean(
      "True when counting stopped early: there are at least `total` jobs.",
    ),
    ...PAGE_END,
  }),

  async handle(world, caller, { query }) {
    const { limit, status, kind, offset } = query;
    const listing = { owner: getOwnerId(caller), status, kind };
    const bound = `jobs ${listing.owner} ${[status ?? "all", ...(kind ? [kind] : [])].join(" ")}`;
    const after = readOffset<PagePosition>(world, bound, offset);

    const [{ jobs, next }, { total, isFloor }] = await Promise.all([
      readJobs(world.table, listing, { limit, after }),
      countJobs(world.table, listing),
    ]);
    return ok({
      jobs: await Promise.all(jobs.map((job) => readJobSummary(world, job))),
      total,
      total_is_approximate: isFloor,
      ...toPageEnd(world, bound, next),
    });
  },
});
