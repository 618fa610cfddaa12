import type { AppWorld } from "@mailproof/core/app-world";
import { findElsewhereCounts } from "@mailproof/core/calibration/items";
import { openOwnColumns } from "@mailproof/core/exports/source-list";
import { countFacets } from "@mailproof/core/find-rows/count-facets";
import { readSelectedRows } from "@mailproof/core/find-rows/read-job-row";
import { decodeReadProgress, encodeReadProgress } from "@mailproof/core/find-rows/result-cursor";
import {
  NOTHING_READ,
  type ReadProgress,
  readResultPage,
} from "@mailproof/core/find-rows/result-pages";
import {
  INDEX_BYTES,
  type RowSelection,
  type SelectedRows,
  selectRows,
} from "@mailproof/core/find-rows/select-rows";
import type { RowPosition } from "@mailproof/core/find-rows/sort-rows";
import { signCursor, verifyCursor } from "@mailproof/core/lib/cursor";
import type { World } from "@mailproof/core/ports/world";
import { signStoredClaims } from "@mailproof/core/receipts/create-receipt";
import type { Job } from "@mailproof/core/rows/items";
import { freeIfChildEnded } from "@mailproof/core/rows/replace-rows";
import {
  findSummary,
  type ResultSummary as StoredSummary,
} from "@mailproof/core/rows/result-summary";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { createRowPage, ROWS_BYTES_MAX, type RowPage } from "../http/row-page.ts";
import { Cursor, describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import {
  assertNotDeleted,
  JobSummary,
  ResultRow,
  readJobSummary,
  requireJob,
  toElsewhere,
  toRow,
} from "../schema/jobs.ts";
import { createLimit } from "../schema/paging.ts";
import {
  ResultSummary,
  ROW_SELECTION,
  RowFacets,
  toPublicElsewhere,
  toPublicSummary,
} from "../schema/row-selection.ts";

const TrueText = v.literal("true", "must be true, or left out");

const LIMIT = { default: 100, most: 1_000 };

export const getJob = endpoint({
  id: "getJob",
  route: "GET /v1/jobs/{id}",
  tag: "Jobs",
  summary: "Get a job, the counts of its results, and a page of them.",
  access: "verification:read",
  needs: ["table:readwrite", "blobs:read", "cursor", "seal"],
  tool: {
    effect: "readOnly",
    hint: "Pass next_key to read the next page. While the job runs every page has one: wait a few seconds and pass it: each row is returned once. The last page has none. For all rows at once, give the user the link of download_job.",
  },
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The job's id (`job_id`).") }),
  query: v.strictObject({
    include_results: describe(v.optional(v.string(), "true"), "`false` leaves the results out."),
    limit: createLimit("results", LIMIT),
    ...ROW_SELECTION,
    columns: describe(
      v.optional(TrueText),
      "`true` adds `columns` and `cells`. Pages are as with `skip`.",
    ),
    facets: describe(v.optional(TrueText), "`true` adds `facets`: rows by value of `filter`."),
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
    columns: describe(
      v.optional(v.array(v.string())),
      "With `columns=true`: the names of the list's columns, each once. Left out where the list is gone, or has none.",
    ),
    results: describe(
      v.optional(v.array(ResultRow)),
      "The next results: those that are ready and that no previous page returned, in the order of the list or of `sort`. Left out when there are none.",
    ),
    matching_rows: field.maybeCount(
      "Rows that match `filter` and `q`. Present with `filter`, `q`, `sort` or `skip`.",
    ),
    next_key: field.maybeText(
      "Cursor for the next page, at most 2,000 characters. Present while the job runs, even on a page without results: send it later for the rows that are ready by then. Left out when the job has ended and every row was returned, and with `include_results=false`. With `filter`, `q`, `sort` or `skip`: present if more rows match. A page ends early where its rows have 1.5 MB.",
    ),
  }),

  async handle(world, caller, { path, query }) {
    const { filter, q: text, sort, skip, next_key: nextKey, limit } = query;
    if (skip !== undefined && nextKey !== undefined)
      throw invalidField("skip", "must be left out with next_key");
    const job = await freeIfChildEnded(world, await requireJob(world, caller, path.id));
    const isSelected = [filter, text, sort, skip, query.columns].some((one) => one !== undefined);
    const selection = { filter: filter ?? {}, text, order: sort ?? IN_LIST_ORDER };
    const hasColumns = query.columns !== undefined;
    const readRows = isSelected
      ? prepareSelection(world, job, selection, { skip: skip ?? 0, nextKey, limit, hasColumns })
      : prepareReading(world, job, nextKey, limit);
    const [state, counts] = await Promise.all([
      readJobSummary(world, job),
      findSummary(world.table, job),
    ]);
    const { vendor } = job;
    const elsewhere = vendor && {
      elsewhere: toPublicElsewhere(vendor.name, await findElsewhereCounts(world.table, job.id)),
    };
    const facets = query.facets && (await readFacets(world, job, selection, counts));
    const summary = {
      ...state,
      ...(counts && { summary: { ...toPublicSummary(counts), ...elsewhere } }),
      ...(facets && { facets }),
    };
    if (query.include_results === "false") return ok(summary);

    const { rows, ...others } = await readRows();
    await assertNotDeleted(world, job);
    return ok({ ...summary, ...others, ...(rows.length > 0 && { results: [...rows] }) });
  },
});

type ReadRows = Pick<RowPage<v.InferOutput<typeof ResultRow>>, "rows"> & {
  readonly columns?: string[];
  readonly matching_rows?: number;
  readonly next_key?: string;
};

/** The endpoint checks a cursor before it reads anything. */
type PreparedRead = () => Promise<ReadRows>;

const ROW_BYTES = 4_000;

const prepareReading = (
  world: AppWorld,
  job: Job,
  nextKey: string | undefined,
  limit: number,
): PreparedRead => {
  const delivered = readCursor(world, job, nextKey);
  const name = `${boundTo(job)} ${limit} ${nextKey}`;
  const cost = { account: job.account, name, rows: limit, bytes: limit * ROW_BYTES };
  return () =>
    world.listReads.run(cost, async () => {
      const page = createRowPage<v.InferOutput<typeof ResultRow>>(limit);
      const add = (row: Parameters<typeof toRow>[0]) =>
        page.add(toRow(signStoredClaims(world, row)));
      const { next } = await readResultPage(world.table, job, delivered, add);
      const { settings } = world;
      const position = next && signCursor(settings, boundTo(job), encodeReadProgress(next));
      return { rows: page.rows, ...(position !== undefined && { next_key: position }) };
    });
};

const readFacets = (
  world: AppWorld,
  job: Job,
  selection: RowSelection,
  summary: StoredSummary | undefined,
): Promise<v.InferOutput<typeof RowFacets>> => {
  const domains = summary?.topDomains.map(({ domain }) => domain) ?? [];
  const name = `facets ${job.id} ${JSON.stringify(selection)}`;
  const cost = { account: job.account, name, rows: job.processed, bytes: INDEX_BYTES };
  return world.listReads.run(cost, () =>
    countFacets(world.table, job, selection, domains, () => world.sleep(0)),
  );
};

const Position = v.object({ value: v.union([v.string(), v.number()]), row: v.number() });

const IN_LIST_ORDER = { by: "row", isDescending: false } as const;

type PageRequest = {
  readonly skip: number;
  readonly nextKey: string | undefined;
  readonly limit: number;
  readonly hasColumns: boolean;
};

const prepareSelection = (
  world: AppWorld,
  job: Job,
  selection: RowSelection,
  request: PageRequest,
): PreparedRead => {
  const { skip, nextKey, limit } = request;
  const { settings } = world;
  const bound = `rows ${job.owner} ${job.id} ${JSON.stringify(selection)}`;
  const after = nextKey === undefined ? undefined : verifyCursor(settings, bound, nextKey);
  if (nextKey !== undefined && !after)
    throw invalidField("next_key", "must be a next_key of this job, filter, q and sort");
  const start = after ? { after: v.parse(Position, after) } : { offset: skip };
  const name = `${bound} ${JSON.stringify(request)}`;
  const bytes = INDEX_BYTES + limit * ROW_BYTES;
  return () =>
    world.listReads.run({ account: job.account, name, rows: job.processed, bytes }, async () => {
      const pause = () => world.sleep(0);
      const selected = await selectRows(world.table, job, selection, start, limit, pause);
      const { next, ...page } = await readPage(world, job, selected, request);
      return {
        ...page,
        matching_rows: selected.matching,
        ...(next && { next_key: signCursor(settings, bound, next) }),
      };
    });
};

const readPage = async (
  world: AppWorld,
  job: Job,
  { found, hasMore }: SelectedRows,
  { limit, hasColumns }: PageRequest,
): Promise<ReadRows & { readonly next: RowPosition | undefined }> => {
  const own = hasColumns ? await openOwnColumns(world, job) : undefined;
  // Limits the rows by an estimate before reading them; then the page counts each row.
  const near = own ? found.slice(0, own.countWithin(found, ROWS_BYTES_MAX)) : found;
  const located = await readSelectedRows(world, job.id, near);
  const cells = await own?.readCells(located);
  const page = createRowPage<v.InferOutput<typeof ResultRow>>(limit);
  const refused = located.find((row) => {
    const own = cells?.get(row.row);
    const elsewhere = toElsewhere(job, own ?? []);
    return !page.add({ ...toRow(signStoredClaims(world, row), own), ...elsewhere });
  });
  const end = refused ? near.findIndex(({ row }) => row === refused.row) : near.length;
  const last = end < found.length || hasMore ? found[end - 1] : undefined;
  const isGone = located.length > 0 && cells?.size === 0;
  return {
    rows: page.rows,
    next: last && { value: last.value, row: last.row },
    ...(own && !isGone && { columns: [...own.names] }),
  };
};

const boundTo = ({ id, owner }: Job): string => `results ${owner} ${id}`;

const readCursor = (world: World, job: Job, nextKey: string | undefined): ReadProgress => {
  if (nextKey === undefined) return NOTHING_READ;
  const encoded = verifyCursor(world.settings, boundTo(job), nextKey);
  if (!encoded) throw invalidField("next_key", "must be a next_key of this job");
  return decodeReadProgress(encoded);
};
