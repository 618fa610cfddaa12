import { openCursor, sealCursor } from "@mailproof/core/cursor";
import type { Job } from "@mailproof/core/jobs/items";
import { decodeDelivered, encodeDelivered } from "@mailproof/core/jobs/result-cursor";
import {
  type Delivered,
  NOTHING_DELIVERED,
  readResultPage,
} from "@mailproof/core/jobs/result-pages";
import type { World } from "@mailproof/core/world";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Cursor, Id, KEYED_ERRORS, limitUpTo } from "../schema/common.ts";
import { JobFacts, jobOf, ResultRow, readJobFacts, toRow } from "../schema/jobs.ts";

const LIMIT = { default: 100, most: 1_000 };

export const getJob = endpoint({
  id: "getJob",
  route: "GET /v1/jobs/{id}",
  tag: "Jobs",
  summary: "Follow a job and read its results, page by page.",
  price: null,
  access: "verification:read",
  needs: ["table:readwrite"],
  tool: {
    effect: "readOnly",
    hint: "Pass next_key to read the next page of results. While the job runs every page has one: wait some seconds and pass it, and each row is returned exactly once. The last page of a finished job has none. For all rows at once, give the user the link of download_job.",
  },
  answers: [200],
  errors: [...KEYED_ERRORS, "NOT_FOUND"],

  path: v.strictObject({ id: Id }),
  query: v.strictObject({
    include_results: v.optional(v.string(), "true"),
    limit: limitUpTo(LIMIT),
    next_key: Cursor,
  }),
  output: v.object({
    ...JobFacts.entries,
    results: v.optional(v.array(ResultRow)),
    next_key: v.optional(v.string()),
  }),

  async handle(world, caller, { path, query }) {
    const job = await jobOf(world, caller, path.id);
    const delivered = readCursor(world, job, query.next_key);
    const facts = await readJobFacts(world, job);
    if (query.include_results === "false") return { status: 200, data: facts };

    const { rows, next } = await readResultPage(world.table, job, delivered, query.limit);
    return {
      status: 200,
      data: {
        ...facts,
        ...(rows.length > 0 && { results: rows.map(toRow) }),
        ...(next && {
          next_key: sealCursor(world.settings.cursorSecret, boundTo(job), encodeDelivered(next)),
        }),
      },
    };
  },
});

const boundTo = ({ id, owner }: Job): string => `results ${owner} ${id}`;

const readCursor = (world: World, job: Job, nextKey: string | undefined): Delivered => {
  if (nextKey === undefined) return NOTHING_DELIVERED;
  const encoded = openCursor(world.settings.cursorSecret, boundTo(job), nextKey);
  if (!encoded) throw invalidField("next_key", "must be a next_key of this job");
  return decodeDelivered(encoded);
};
