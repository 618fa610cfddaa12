import type { Job } from "@mailproof/core/jobs/items";
import { decodeReadProgress, encodeReadProgress } from "@mailproof/core/jobs/result-cursor";
import { NOTHING_READ, type ReadProgress, readResultPage } from "@mailproof/core/jobs/result-pages";
import { signCursor, verifyCursor } from "@mailproof/core/lib/cursor";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Cursor, describe, Id, KEYED_ERRORS, limitUpTo } from "../schema/common.ts";
import { JobSummary, ResultRow, readJobSummary, requireJob, toRow } from "../schema/jobs.ts";

const LIMIT = { default: 100, most: 1_000 };

export const getJob = endpoint({
  id: "getJob",
  route: "GET /v1/jobs/{id}",
  tag: "Jobs",
  summary: "Get a job and a page of its results.",
  price: null,
  access: "verification:read",
  needs: ["table:readwrite"],
  tool: {
    effect: "readOnly",
    hint: "Pass next_key to read the next page of results. While the job runs every page has one: wait some seconds and pass it, and each row is returned exactly once. The last page of a finished job has none. For all rows at once, give the user the link of download_job.",
  },
  answers: [200],
  errors: [...KEYED_ERRORS, "NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The job's id (`job_id`).") }),
  query: v.strictObject({
    include_results: describe(
      v.optional(v.string(), "true"),
      "`false` leaves the results out. Any other value includes them.",
    ),
    limit: describe(
      limitUpTo(LIMIT),
      "Largest number of results on a page. Larger values are cut to 1,000.",
    ),
    next_key: describe(
      Cursor,
      "The `next_key` of the previous page. Following it from the first page to a page without one returns every row exactly once, also while the job runs.",
    ),
  }),
  output: v.object({
    ...JobSummary.entries,
    results: describe(
      v.optional(v.array(ResultRow)),
      "The next results: those that are ready and that no previous page returned, in the order of the list. Left out when there are none.",
    ),
    next_key: describe(
      v.optional(v.string()),
      "Cursor for the next page, at most 2,000 characters. Present while the job runs, even on a page without results: send it later for the rows that are ready by then. Left out when the job has ended and every row was returned, and with `include_results=false`.",
    ),
  }),

  async handle(world, caller, { path, query }) {
    const job = await requireJob(world, caller, path.id);
    const delivered = readCursor(world, job, query.next_key);
    const summary = await readJobSummary(world, job);
    if (query.include_results === "false") return { status: 200, data: summary };

    const { rows, next } = await readResultPage(world.table, job, delivered, query.limit);
    return {
      status: 200,
      data: {
        ...summary,
        ...(rows.length > 0 && { results: rows.map(toRow) }),
        ...(next && {
          next_key: signCursor(world.settings.cursorSecret, boundTo(job), encodeReadProgress(next)),
        }),
      },
    };
  },
});

const boundTo = ({ id, owner }: Job): string => `results ${owner} ${id}`;

const readCursor = (world: World, job: Job, nextKey: string | undefined): ReadProgress => {
  if (nextKey === undefined) return NOTHING_READ;
  const encoded = verifyCursor(world.settings.cursorSecret, boundTo(job), nextKey);
  if (!encoded) throw invalidField("next_key", "must be a next_key of this job");
  return decodeReadProgress(encoded);
};
