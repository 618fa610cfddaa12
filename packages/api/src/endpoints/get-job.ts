import { readOwnColumns } from "@mailproof/core/exports/source-list";
import { countFacets } from "@mailproof/core/jobs/count-facets";
import type { Job } from "@mailproof/core/jobs/items";
import { type LocatedRow, readSelectedRows } from "@mailproof/core/jobs/read-selected-rows";
import { freeIfChildEnded } from "@mailproof/core/jobs/replace-rows";
import { decodeReadProgress, encodeReadProgress } from "@mailproof/core/jobs/result-cursor";
import { NOTHING_READ, type ReadProgress, readResultPage } from "@mailproof/core/jobs/result-pages";
import {
  findSummary,
  type ResultSummary as StoredSummary,
} from "@mailproof/core/jobs/result-summary";
import type { VerifiedRow } from "@mailproof/core/jobs/results";
import { readRowIndex } from "@mailproof/core/jobs/row-index";
import { type RowSelection, selectRows } from "@mailproof/core/jobs/select-rows";
import { signCursor, verifyCursor } from "@mailproof/core/lib/cursor";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Count, Cursor, describe, Id, KEYED_ERRORS, limitUpTo } from "../schema/common.ts";
import {
  assertNotDeleted,
  JobSummary,
  ResultRow,
  readJobSummary,
  requireJob,
  toRow,
} from "../schema/jobs.ts";
import {
  ResultSummary,
  ROW_SELECTION,
  RowFacets,
  toPublicSummary,
} from "../schema/row-selection.ts";

/** Left out, or this. */
const TrueText = v.literal("true", "must be true, or left out");

const LIMIT = { default: 100, most: 1_000 };

export const getJob = endpoint({
  id: "getJob",
  route: "GET /v1/jobs/{id}",
  tag: "Jobs",
  summary: "Get a job, the counts of its results, and a page of them.",
  price: null,
  access: "verification:read",
  needs: ["table:readwrite", "blobs:read"],
  tool: {
    effect: "readOnly",
    hint: "Pass next_key to read the next page of results. While the job runs every page has one: wait a few seconds and pass it, and each row is returned exactly once. The last page of a finished job has none. filter, q and sort find rows. For all rows at once, give the user the link of download_job.",
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
    ...ROW_SELECTION,
    columns: describe(
      v.optional(TrueText),
      "`true` adds `columns` to the results. Pages are then as with `skip`.",
    ),
    facets: describe(
      v.optional(TrueText),
      "`true` adds `facets`: what each value of `filter` would leave.",
    ),
    next_key: describe(
      Cursor,
      "The `next_key` of the previous page. From the first page to one without it, every row is returned exactly once, even while the job runs; with the same `filter`, `q` and `sort`, rows that become ready before it are left out.",
    ),
  }),
  output: v.object({
    ...JobSummary.entries,
    summary: describe(
      v.optional(ResultSummary),
      "Counts of all rows with a result. Left out for a job of one address, and when the results are deleted.",
    ),
    facets: describe(
      v.optional(RowFacets),
      "By field of `filter` and value: rows with it that match `q` and the other fields.",
    ),
    results: describe(
      v.optional(v.array(ResultRow)),
      "The next results: those that are ready and that no previous page returned, in the order of the list or of `sort`. Left out when there are none.",
    ),
    matching_rows: describe(
      v.optional(Count),
      "Rows that match `filter` and `q`. Present with `filter`, `q`, `sort` or `skip`.",
    ),
    next_key: describe(
      v.optional(v.string()),
      "Cursor for the next page, at most 2,000 characters. Present while the job runs, even on a page without results: send it later for the rows that are ready by then. Left out when the job has ended and every row was returned, and with `include_results=false`. With `filter`, `q`, `sort` or `skip`: present if more rows match.",
    ),
  }),

  async handle(world, caller, { path, query }) {
    const { filter, q: text, sort, skip, next_key: nextKey, limit } = query;
    if (skip !== undefined && nextKey !== undefined)
      throw invalidField("skip", "must be left out with next_key");
    const job = await freeIfChildEnded(world, await requireJob(world, caller, path.id));
    const isSelected = [filter, text, sort, skip, query.columns].some((one) => one !== undefined);
    const selection = { filter: filter ?? {}, text, order: sort ?? IN_LIST_ORDER };
    const readRows = isSelected
      ? prepareSelection(world, job, selection, { skip: skip ?? 0, nextKey, limit })
      : prepareReading(world, job, nextKey, limit);
    const [state, counts] = await Promise.all([
      readJobSummary(world, job),
      findSummary(world.table, job),
    ]);
    const facets = query.facets && (await readFacets(world, job, selection, counts));
    const summary = {
      ...state,
      ...(counts && { summary: toPublicSummary(counts) }),
      ...(facets && { facets }),
    };
    if (query.include_results === "false") return { status: 200, data: summary };

    const { rows, located = [], matching, next } = await readRows();
    const own = query.columns && (await readOwnColumns(world, job, located));
    await assertNotDeleted(world, job);
    return {
      status: 200,
      data: {
        ...summary,
        ...(rows.length > 0 && {
          results: rows.map((row) => toRow(row, own ? own(row.row) : undefined)),
        }),
        ...(matching !== undefined && { matching_rows: matching }),
        ...(next !== undefined && { next_key: next }),
      },
    };
  },
});

type RowPage = {
  readonly rows: readonly VerifiedRow[];
  /** The same rows, where the index found them. */
  readonly located?: readonly LocatedRow[];
  readonly matching?: number;
  readonly next: string | undefined;
};

/** A cursor is checked before anything is read. */
type PreparedRead = () => Promise<RowPage>;

const prepareReading = (
  world: World,
  job: Job,
  nextKey: string | undefined,
  limit: number,
): PreparedRead => {
  const delivered = readCursor(world, job, nextKey);
  return async () => {
    const { rows, next } = await readResultPage(world.table, job, delivered, limit);
    const { cursorSecret } = world.settings;
    return {
      rows,
      next: next && signCursor(cursorSecret, boundTo(job), encodeReadProgress(next)),
    };
  };
};

const readFacets = async (
  world: World,
  job: Job,
  selection: RowSelection,
  summary: StoredSummary | undefined,
): Promise<v.InferOutput<typeof RowFacets>> => {
  const index = await readRowIndex(world.table, job);
  const domains = summary?.topDomains.map(({ domain }) => domain) ?? [];
  return countFacets(index, selection, domains, () => world.sleep(0));
};

const Position = v.object({ value: v.union([v.string(), v.number()]), row: v.number() });

const IN_LIST_ORDER = { by: "row", isDescending: false } as const;

type PageRequest = {
  readonly skip: number;
  readonly nextKey: string | undefined;
  readonly limit: number;
};

const prepareSelection = (
  world: World,
  job: Job,
  selection: RowSelection,
  { skip, nextKey, limit }: PageRequest,
): PreparedRead => {
  const { cursorSecret } = world.settings;
  const bound = `rows ${job.owner} ${job.id} ${JSON.stringify(selection)}`;
  const after = nextKey === undefined ? undefined : verifyCursor(cursorSecret, bound, nextKey);
  if (nextKey !== undefined && !after)
    throw invalidField("next_key", "must be a next_key of this job, filter, q and sort");
  const start = after ? { after: v.parse(Position, after) } : { offset: skip };
  return async () => {
    const index = await readRowIndex(world.table, job);
    const pause = () => world.sleep(0);
    const { matching, found, next } = await selectRows(index, selection, start, limit, pause);
    const rows = await readSelectedRows(world.table, job.id, found);
    return {
      rows,
      located: rows,
      matching,
      next: next && signCursor(cursorSecret, bound, next),
    };
  };
};

const boundTo = ({ id, owner }: Job): string => `results ${owner} ${id}`;

const readCursor = (world: World, job: Job, nextKey: string | undefined): ReadProgress => {
  if (nextKey === undefined) return NOTHING_READ;
  const encoded = verifyCursor(world.settings.cursorSecret, boundTo(job), nextKey);
  if (!encoded) throw invalidField("next_key", "must be a next_key of this job");
  return decodeReadProgress(encoded);
};
