import { signCursor, verifyCursor } from "@mailproof/core/lib/cursor";
import { countJobs, LISTED_KINDS, listJobs as readJobs } from "@mailproof/core/lists/list-jobs";
import { getOwnerId } from "@mailproof/core/money/payer";
import type { PagePosition } from "@mailproof/core/ports/table";
import { JOB_STATUSES } from "@mailproof/core/rows/items";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Cursor, describe, limitUpTo } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { JobSummary, readJobSummary } from "../schema/jobs.ts";

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
    limit: describe(
      limitUpTo(LIMIT),
      "Largest number of jobs on a page. Larger values are cut to 100.",
    ),
    status: describe(
      v.optional(v.picklist(JOB_STATUSES, `must be one of ${JOB_STATUSES.join(", ")}`)),
      "Only jobs in this state.",
    ),
    kind: describe(
      v.optional(v.picklist(LISTED_KINDS, `must be one of ${LISTED_KINDS.join(", ")}`)),
      "list: only batches and files. single: only verifications of one address, such as those of a form's visitors.",
    ),
    offset: describe(Cursor, "The `next_offset` of the previous page."),
  }),
  output: v.object({
    jobs: describe(v.array(JobSummary), "The jobs, newest first."),
    total: field.count("Number of jobs."),
    total_is_approximate: field.boolean(
      "True when counting stopped early: there are at least `total` jobs.",
    ),
    has_more: field.boolean("True when there is another page."),
    next_offset: describe(Cursor, "Cursor for the next page. Left out on the last page."),
  }),

  async handle(world, caller, { query }) {
    const { limit, status, kind, offset } = query;
    const listing = { owner: getOwnerId(caller), status, kind };
    const { settings } = world;
    const bound = `jobs ${listing.owner} ${[status ?? "all", ...(kind ? [kind] : [])].join(" ")}`;
    const after = offset === undefined ? undefined : verifyCursor(settings, bound, offset);
    if (offset !== undefined && typeof after !== "string")
      throw invalidField("offset", "must be a next_offset of this list");

    const [{ jobs, next }, { total, isFloor }] = await Promise.all([
      readJobs(world.table, listing, { limit, after: after as PagePosition | undefined }),
      countJobs(world.table, listing),
    ]);
    return ok({
      jobs: await Promise.all(jobs.map((job) => readJobSummary(world, job))),
      total,
      total_is_approximate: isFloor,
      has_more: next !== undefined,
      ...(next && { next_offset: signCursor(settings, bound, next) }),
    });
  },
});
