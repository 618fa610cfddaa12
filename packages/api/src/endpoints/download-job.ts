import { countAllRows } from "@mailproof/core/exports/count-all-rows";
import { formatCsv } from "@mailproof/core/exports/export-csv";
import { ROW_SELECTIONS, readListedRows } from "@mailproof/core/exports/export-rows";
import {
  countExportRows,
  EXPORT_FILTERS,
  type ExportedRows,
  type ExportSummary,
  getRowsMax,
  readExportedRows,
  summarizeExport,
  toRowCounts,
} from "@mailproof/core/exports/exported-rows";
import { isOpenJob } from "@mailproof/core/jobs/items";
import { toContentDisposition } from "@mailproof/core/lib/content-disposition";
import { Failure } from "@mailproof/core/lib/failure";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import { type Answer, endpoint } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Count, describe, Id, KEYED_ERRORS } from "../schema/common.ts";
import {
  ExportMetadata,
  type ExportRow,
  formatJson,
  toExportRow,
  UnverifiedRow,
  VerifiedRow,
} from "../schema/export-json.ts";
import {
  CONTENT_TYPE,
  DELIMITERS,
  type DelimiterName,
  exportLink,
  exportName,
  type Wanted,
} from "../schema/export-link.ts";
import { requireJob } from "../schema/jobs.ts";

const FORMATS = ["csv", "json"] as const;
const DELIMITER_NAMES = Object.keys(DELIMITERS) as readonly DelimiterName[];

const createPicklist = <const T extends readonly string[]>(names: T) =>
  v.pipe(v.string(), v.toLowerCase(), v.picklist(names, `must be one of ${names.join(", ")}`));

const Inline = v.object({
  ...ExportMetadata.entries,
  results: describe(
    v.array(v.union([VerifiedRow, UnverifiedRow])),
    "The rows of the export, in the order of the list.",
  ),
});
const Link = v.object({
  ...ExportMetadata.entries,
  download_url: describe(
    v.string(),
    "URL of the whole export. It works without a key until `expires_at`.",
  ),
  expires_in_seconds: describe(Count, "Lifetime of the URL in seconds."),
  expires_at: describe(v.string(), "When the URL stops working, ISO 8601."),
});

type Exported = v.InferOutput<typeof Inline> | v.InferOutput<typeof Link>;
type Metadata = v.InferOutput<typeof ExportMetadata>;

export const downloadJob = endpoint({
  id: "downloadJob",
  route: "GET /v1/jobs/{id}/download",
  tag: "Jobs",
  summary: "Export the results of a job as CSV, with the list's own columns, or as JSON.",
  price: null,
  access: "verification:read",
  needs: ["table:readwrite", "blobs:read", "blobs:write"],
  tool: {
    effect: "readOnly",
    hint: "Returns a link to the file. Anyone who has the link can open it until it expires.",
  },
  answers: [200],
  errors: [...KEYED_ERRORS, "NOT_FOUND", "NOT_READY"],

  path: v.strictObject({ id: describe(Id, "The job's id (`job_id`).") }),
  query: v.strictObject({
    format: describe(
      v.optional(createPicklist(FORMATS), "csv"),
      "`csv`, with your file's columns and the result columns, or `json`. Case does not matter.",
    ),
    filter: describe(
      v.optional(createPicklist(EXPORT_FILTERS), "all"),
      "Which results to export. `invalid` includes disposable; `risky` includes catch_all, role and spam_trap; `unknown` includes rows without a status. Case does not matter.",
    ),
    rows: describe(
      v.optional(createPicklist(ROW_SELECTIONS), "verified"),
      "`verified`: the rows that have a result. `all`: every row of the list, in its order; `row_outcome` says why a row has no result. Cannot be combined with a filter. Case does not matter.",
    ),
    delimiter: describe(
      v.optional(createPicklist(DELIMITER_NAMES)),
      "Separates the cells of a CSV: `comma`, `semicolon` or `tab`. Left out: the delimiter of your own file. Not for `format=json`. Case does not matter.",
    ),
  }),
  output: v.union([Inline, Link]),
  enveloped: false,

  async handle(world, caller, { path, query }): Promise<Answer<Exported>> {
    const { format, filter, rows: selection, delimiter = null } = query;
    if (format === "json" && delimiter !== null)
      throw invalidField("delimiter", "is only allowed with format=csv");
    if (selection === "all" && filter !== "all")
      throw invalidField("filter", "must be left out with rows=all");
    const job = await requireJob(world, caller, path.id);
    const readable = await summarizeExport(world.table, job);
    if (readable.expected === 0) throw noRows(readable);
    if (readable.missing === readable.expected) throw noneReadable(world, readable);
    const wanted = { format, filter, selection, delimiter };
    return format === "csv" ? csv(world, readable, wanted) : json(world, readable, wanted);
  },
});

const csv = async (
  world: World,
  readable: ExportSummary,
  wanted: Wanted,
): Promise<Answer<Exported>> => {
  const { job, missing } = readable;
  if (missing > 0) throw tooShort(readable, missing);
  const { selection } = wanted;
  const delimiter = wanted.delimiter && DELIMITERS[wanted.delimiter];
  const headers = toHeaders(await readMetadata(world, readable, wanted));
  const rows = () => formatCsv(listRows(world, readable, wanted), { selection, delimiter });
  return {
    kind: "stream",
    status: 200,
    headers: {
      ...headers,
      "content-type": CONTENT_TYPE.csv,
      "content-disposition": toContentDisposition(exportName(job, wanted)),
    },
    stream: rows(),
    elsewhere: async () => (await exportLink(world, readable, wanted, rows)).url,
  };
};

const listRows = (world: World, readable: ExportSummary, { filter, selection }: Wanted) => {
  const exported = readExportedRows(world, readable, filter);
  return readListedRows(world, readable, assertComplete(readable, exported), selection);
};

const INLINE_ROWS_MAX = 5_000;
/** A Lambda response has at most 6 MB, and every quote takes two bytes in it. */
const INLINE_BYTES_MAX = 4_500_000;

const json = async (
  world: World,
  readable: ExportSummary,
  wanted: Wanted,
): Promise<Answer<Exported>> => {
  const metadata = await readMetadata(world, readable, wanted);
  const most =
    wanted.selection === "all" ? metadata.expected_rows : getRowsMax(readable, wanted.filter);
  if (most <= INLINE_ROWS_MAX) {
    const data = await inline(world, readable, wanted, metadata);
    if (Buffer.byteLength(JSON.stringify(data)) <= INLINE_BYTES_MAX)
      return { status: 200, headers: toHeaders(data), data };
  }
  const link = await exportLink(world, readable, wanted, () =>
    formatJson(metadata, listRows(world, readable, wanted)),
  );
  const { url: download_url, expiresInSeconds: expires_in_seconds } = link;
  const expires_at = new Date(world.now().getTime() + expires_in_seconds * 1_000).toISOString();
  return {
    status: 200,
    headers: toHeaders(metadata),
    data: { ...metadata, download_url, expires_in_seconds, expires_at },
  };
};

const readMetadata = async (
  world: World,
  readable: ExportSummary,
  { filter, selection }: Wanted,
): Promise<Metadata> => {
  const { job, missing: unreadable, pending } = readable;
  const { expected, missing } =
    selection === "all"
      ? await countAllRows(world, readable)
      : await countExportRows(world, readable, filter);
  return {
    format: "json",
    filter,
    rows: selection,
    complete: job.status === "completed" && unreadable === 0,
    expected_rows: expected,
    rows_missing: missing,
    rows_pending: pending,
  };
};

/** The metadata of the JSON as headers: a CSV has no field for it. */
const toHeaders = (metadata: Metadata): Readonly<Record<string, string>> => ({
  "x-export-complete": String(metadata.complete),
  "x-export-expected-rows": String(metadata.expected_rows),
  "x-export-missing-rows": String(metadata.rows_missing),
  "x-export-pending-rows": String(metadata.rows_pending),
});

/** All rows are read before the response is written, so the number of missing rows is exact. */
const inline = async (
  world: World,
  readable: ExportSummary,
  { filter, selection }: Wanted,
  metadata: Metadata,
) => {
  const results: ExportRow[] = [];
  let found = 0;
  async function* counted(): AsyncGenerator<ExportedRows> {
    for await (const one of readExportedRows(world, readable, filter)) {
      found += one.read;
      yield one;
    }
  }
  for await (const { list, rows } of readListedRows(world, readable, counted(), selection))
    for (const row of rows) results.push(toExportRow(list, row, selection));
  const unreadable = readable.expected - found;
  if (found === 0) throw noneReadable(world, readable);
  const complete = metadata.complete && unreadable === 0;
  const { expected, missing } =
    selection === "all"
      ? { expected: metadata.expected_rows, missing: unreadable }
      : toRowCounts(readable, filter, { found: results.length, missing: unreadable });
  return { ...metadata, complete, expected_rows: expected, rows_missing: missing, results };
};

/** Breaks the response off when a row is missing: a truncated file must not pass for a complete one. */
async function* assertComplete(
  readable: ExportSummary,
  exported: AsyncIterable<ExportedRows>,
): AsyncGenerator<ExportedRows> {
  for await (const one of exported) {
    if (one.read < one.chunk.rows) throw tooShort(readable, one.chunk.rows - one.read);
    yield one;
  }
}

const noRows = ({ job }: ExportSummary): Failure => {
  const what = isOpenJob(job) ? "This job has no rows yet." : "This job has no rows.";
  return new Failure("NOT_FOUND", "nothing_charged", what);
};

const noneReadable = (world: World, { job, expected }: ExportSummary): Failure => {
  const days = Math.round(job.keptSeconds / 86_400);
  const overAt = Date.parse(job.completedAt ?? job.createdAt) + job.keptSeconds * 1_000;
  const why =
    overAt <= world.now().getTime()
      ? `they were stored for ${days} days and are deleted.`
      : "retry in a few seconds.";
  const what = `None of this job's ${expected} rows can be read: ${why}`;
  return notReady(what, expected, expected);
};

const tooShort = ({ expected }: ExportSummary, missing: number): Failure => {
  const rows = missing === 1 ? "row" : "rows";
  const what = `${missing} of ${expected} ${rows} cannot be read, which a CSV cannot show. Retry in a few seconds, or use format=json, which reports missing rows.`;
  return notReady(what, expected, missing);
};

const notReady = (what: string, expected_rows: number, rows_missing: number): Failure =>
  new Failure("NOT_READY", "nothing_charged", what, {
    retryable: true,
    details: { expected_rows, rows_missing },
  });
