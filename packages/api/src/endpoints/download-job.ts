import type { AppWorld } from "@mailproof/core/app-world";
import { countExport } from "@mailproof/core/exports/export-counts";
import {
  type ExportMetadata as Metadata,
  toExportRow,
  toJsonMetadata,
} from "@mailproof/core/exports/export-json";
import {
  CONTENT_TYPES,
  DELIMITER_NAMES,
  type ExportOptions,
  toExportFileName,
} from "@mailproof/core/exports/export-options";
import { ROW_SELECTIONS, readListedRows } from "@mailproof/core/exports/export-rows";
import {
  EXPORT_NAMES,
  type ExportedRows,
  type ExportSummary,
  getRowsMax,
  readExportedRows,
  summarizeExport,
  toRowCounts,
} from "@mailproof/core/exports/exported-rows";
import { formatTable } from "@mailproof/core/exports/make-export";
import { createShortFailure, createUnreadyFailure } from "@mailproof/core/exports/missing-rows";
import { type RequestedExport, requestExport } from "@mailproof/core/exports/request-export";
import { estimateRowBytes } from "@mailproof/core/exports/source-list";
import { SPREADSHEET_ROWS_MAX } from "@mailproof/core/exports/write-spreadsheet";
import { isRowFilter } from "@mailproof/core/find-rows/row-filter";
import { toContentDisposition } from "@mailproof/core/lib/content-disposition";
import { Failure } from "@mailproof/core/lib/failure";
import type { World } from "@mailproof/core/ports/world";
import { isOpenJob, type Job } from "@mailproof/core/rows/items";
import { poll } from "@mailproof/core/runtime/long-polls";
import * as v from "valibot";
import { LAMBDA_BYTES_MAX } from "../http/body.ts";
import { type Answer, type Caller, endpoint } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { createRowPage } from "../http/row-page.ts";
import { describe, Id, limitCharacters, noControls } from "../schema/common.ts";
import { ExportMetadata, UnverifiedRow, VerifiedRow } from "../schema/export-json.ts";
import * as field from "../schema/fields.ts";
import { assertNotDeleted, requireJob } from "../schema/jobs.ts";
import { FILTER_LENGTH_MAX, ROW_SELECTION } from "../schema/row-selection.ts";

/** The contract defines these formats. A spreadsheet is another form of the CSV. */
const FORMATS = ["csv", "json"] as const;

const createPicklist = <const T extends readonly string[]>(names: T) =>
  v.pipe(v.string(), v.toLowerCase(), v.picklist(names, `must be one of ${names.join(", ")}`));

const FILES = { spreadsheet: "xlsx", zip: "zip" } as const;

/** The OpenAPI document describes the filter as one text, because a choice of names and other texts breaks client generators. */
const ExportFilter = v.pipe(
  v.string(),
  limitCharacters(FILTER_LENGTH_MAX),
  noControls,
  v.transform((text) => EXPORT_NAMES.find((name) => name === text.toLowerCase()) ?? text),
  v.check(
    (text) => EXPORT_NAMES.some((name) => name === text) || isRowFilter(text),
    `must be one of ${EXPORT_NAMES.join(", ")}, or terms such as send:yes,domain:example.com`,
  ),
);

const Inline = v.object({
  ...ExportMetadata.entries,
  rows: describe(
    v.array(v.union([VerifiedRow, UnverifiedRow])),
    "The rows of the export, in the order of the list.",
  ),
});
const Link = v.object({
  ...ExportMetadata.entries,
  download_url: field.text("URL of the whole export. It works without a key until `expires_at`."),
  expires_in_seconds: field.count("Lifetime of the URL in seconds."),
  expires_at: field.text("When the URL stops working, ISO 8601."),
});

type Inline = v.InferOutput<typeof Inline>;
type Link = v.InferOutput<typeof Link>;
type Exported = Inline | Link;

export const downloadJob = endpoint({
  id: "downloadJob",
  route: "GET /v1/jobs/{id}/download",
  tag: "Jobs",
  summary:
    "Export the results of a job as CSV or as a spreadsheet, with the list's own columns, or as JSON.",
  access: "verification:read",
  needs: ["table:readwrite", "blobs:read", "blobs:write", "queue:send"],
  tool: {
    effect: "readOnly",
    hint: "Returns a link to the file. Anyone who has the link can open it until it expires.",
  },
  errors: ["NOT_FOUND", "NOT_READY"],

  path: v.strictObject({ id: describe(Id, "The job's id (`job_id`).") }),
  query: v.strictObject({
    format: describe(
      v.optional(createPicklist(FORMATS), "csv"),
      "`csv`, with your file's columns, or `json`. Case does not matter.",
    ),
    as: describe(
      v.optional(createPicklist(["spreadsheet", "zip"])),
      "`spreadsheet`: the table as an .xlsx file. `zip`: a CSV for each value of `send`.",
    ),
    filter: describe(
      v.optional(ExportFilter, "all"),
      `Which results to export: ${EXPORT_NAMES.join(", ")}. safe_to_send has the valid ones. invalid includes disposable; risky includes catch_all, role and spam_trap; unknown includes rows without a status. Case does not matter. Or terms, as in \`GET /v1/jobs/{id}\`.`,
    ),
    q: ROW_SELECTION.q,
    selection: describe(
      v.optional(createPicklist(ROW_SELECTIONS), "verified"),
      "`verified`: the rows that have a result. `all`: every row of the list, in its order; `row_outcome` says why a row has no result. Cannot be combined with a filter. Case does not matter.",
    ),
    delimiter: describe(
      v.optional(createPicklist(DELIMITER_NAMES)),
      "Separates the cells of a CSV. Left out: that of your own file. Case does not matter.",
    ),
  }),
  output: v.union([Inline, Link]),
  enveloped: false,

  async handle(world, caller, { path, query }): Promise<Answer<Exported>> {
    const { filter, q: text = null, selection, delimiter = null } = query;
    if (query.as !== undefined && query.format !== "csv")
      throw invalidField("as", "must be left out with format=json");
    const format = query.as === undefined ? query.format : FILES[query.as];
    if ((format === "json" || format === "xlsx") && delimiter !== null)
      throw invalidField("delimiter", "is only allowed for a CSV");
    if (selection === "all" && filter !== "all")
      throw invalidField("filter", "must be left out with selection=all");
    if (selection === "all" && (text !== null || format === "zip"))
      throw invalidField("selection", "must be left out with q and as=zip");
    const job = await requireJob(world, caller, path.id);
    const options = { format, filter, text, selection, delimiter };
    const answer = await exportJob(world, caller, job, options).catch(async (cause: unknown) => {
      await assertNotDeleted(world, job);
      throw cause;
    });
    await assertNotDeleted(world, job);
    return answer;
  },
});

const exportJob = async (
  world: AppWorld,
  caller: Caller,
  job: Job,
  options: ExportOptions,
): Promise<Answer<Exported>> => {
  const readable = await summarizeExport(world.table, job);
  if (readable.expected === 0) throw noRows(readable);
  if (readable.missing === readable.expected) throw noneReadable(world, readable);
  const untilMs = world.now().getTime() + WAIT_MS;
  const wait = { account: caller.account, untilMs, everyMs: POLL_MS };
  const make = () => waitForExport(world, wait, readable, options);
  return options.format === "json"
    ? json(world, readable, options, make)
    : table(world, readable, options, make);
};

/** Shorter than an HTTP Lambda's timeout (`HTTP_SECONDS` in infra/topology.ts). */
const WAIT_MS = 20_000;
const POLL_MS = 500;
/** A worker takes a few seconds for the largest export. */
const RETRY_AFTER_MS = 2_000;

type ReadyExport = Extract<RequestedExport, { readonly state: "ready" }>;

const waitForExport = async (
  world: AppWorld,
  wait: Parameters<typeof poll>[1],
  readable: ExportSummary,
  options: ExportOptions,
): Promise<ReadyExport> => {
  const find = async (): Promise<ReadyExport | undefined> => {
    const exported = await requestExport(world, readable, options);
    return exported.state === "ready" ? exported : undefined;
  };
  const exported = (await find()) ?? (await poll(world, wait, find));
  if (exported) return exported;
  throw new Failure("NOT_READY", "nothing_charged", BEING_MADE, {
    retryable: true,
    retryAfterMs: RETRY_AFTER_MS,
  });
};

const BEING_MADE =
  "The file of this export is being made, since it has too many rows for one request. Send the same request again.";

/** The memory for rows whose cells are objects until they are written. */
const READ_BYTES = 20_000_000;

/** Reads in turn, because an export with a filter reads every row before its response. */
const readInTurn = <T>(
  world: AppWorld,
  { job, expected }: ExportSummary,
  options: ExportOptions,
  read: () => Promise<T>,
): Promise<T> => {
  const name = `export ${job.id} ${JSON.stringify(options)}`;
  const cost = { account: job.account, name, rows: expected, bytes: READ_BYTES };
  return world.listReads.run(cost, read);
};

const table = async (
  world: AppWorld,
  readable: ExportSummary,
  options: ExportOptions,
  make: () => Promise<ReadyExport>,
): Promise<Answer<Exported>> => {
  const { job, expected, missing } = readable;
  if (missing > 0) throw createShortFailure(expected, missing);
  const counts = await readInTurn(world, readable, options, () =>
    countExport(world, readable, options),
  );
  if (options.format === "xlsx" && counts.expected >= SPREADSHEET_ROWS_MAX)
    throw invalidField("as", `must be left out: ${TOO_MANY_ROWS}`);
  return {
    kind: "stream",
    status: 200,
    headers: {
      ...toHeaders(toJsonMetadata(options, counts)),
      "content-type": CONTENT_TYPES[options.format],
      "content-disposition": toContentDisposition(toExportFileName(job, options)),
    },
    stream: formatTable(world, readable, options, true),
    elsewhere: async () => (await make()).link.url,
  };
};

const TOO_MANY_ROWS = `a spreadsheet has at most ${SPREADSHEET_ROWS_MAX} rows, with its header`;

const INLINE_ROWS_MAX = 5_000;
/** A Lambda's response limit, less room for the metadata. */
const INLINE_BYTES_MAX = LAMBDA_BYTES_MAX - 10_000;

const json = async (
  world: AppWorld,
  readable: ExportSummary,
  options: ExportOptions,
  make: () => Promise<ReadyExport>,
): Promise<Answer<Exported>> => {
  const data = await readInTurn(world, readable, options, () =>
    findInline(world, readable, options),
  );
  if (data) return { status: 200, headers: toHeaders(data), data };
  const exported = await make();
  const { url: download_url, expiresInSeconds: expires_in_seconds } = exported.link;
  const expires_at = new Date(world.now().getTime() + expires_in_seconds * 1_000).toISOString();
  const metadata = toJsonMetadata(options, exported.counts);
  return {
    status: 200,
    headers: toHeaders(metadata),
    data: { ...metadata, download_url, expires_in_seconds, expires_at },
  };
};

/** Returns the export itself if it fits into a response: first by an estimate, then by the bytes of each row. */
const findInline = async (
  world: World,
  readable: ExportSummary,
  options: ExportOptions,
): Promise<Inline | undefined> => {
  if (options.selection !== "all" && getRowsMax(readable, options) > INLINE_ROWS_MAX)
    return undefined;
  const metadata = toJsonMetadata(options, await countExport(world, readable, options));
  const rowBytes = await estimateRowBytes(world, readable.job);
  const rowsMax = Math.min(INLINE_ROWS_MAX, INLINE_BYTES_MAX / rowBytes);
  if (metadata.expected_rows > rowsMax) return undefined;
  return readInline(world, readable, options, metadata);
};

/** Sends the JSON's metadata as headers, because a CSV has no field for it. */
const toHeaders = (metadata: Metadata): Readonly<Record<string, string>> => ({
  "x-export-complete": String(metadata.complete),
  "x-export-expected-rows": String(metadata.expected_rows),
  "x-export-missing-rows": String(metadata.rows_missing),
  "x-export-pending-rows": String(metadata.rows_pending),
});

/** Reads all rows before the response starts, so the number of missing rows is exact. Undefined when the rows have too many bytes. */
const readInline = async (
  world: World,
  readable: ExportSummary,
  options: ExportOptions,
  metadata: Metadata,
): Promise<Inline | undefined> => {
  const { selection } = options;
  const page = createRowPage<Inline["rows"][number]>(INLINE_ROWS_MAX, INLINE_BYTES_MAX);
  let found = 0;
  async function* counted(): AsyncGenerator<ExportedRows> {
    for await (const one of readExportedRows(world, readable, options)) {
      found += one.read;
      yield one;
    }
  }
  for await (const { list, rows } of readListedRows(world, readable, counted(), selection))
    for (const row of rows) if (!page.add(toExportRow(list, row, selection))) return undefined;
  const unreadable = readable.expected - found;
  if (found === 0) throw noneReadable(world, readable);
  const complete = metadata.complete && unreadable === 0;
  const { expected, missing } =
    selection === "all"
      ? { expected: metadata.expected_rows, missing: unreadable }
      : toRowCounts(readable, options, { found: page.rows.length, missing: unreadable });
  return {
    ...metadata,
    complete,
    expected_rows: expected,
    rows_missing: missing,
    rows: [...page.rows],
  };
};

const noRows = ({ job }: ExportSummary): Failure => {
  const what = isOpenJob(job) ? "This job has no rows yet." : "This job has no rows.";
  return new Failure("NOT_FOUND", "nothing_charged", what);
};

const noneReadable = (world: World, { job, expected }: ExportSummary): Failure => {
  const days = Math.round(job.retentionSeconds / 86_400);
  const overAt = Date.parse(job.completedAt ?? job.createdAt) + job.retentionSeconds * 1_000;
  const why =
    overAt <= world.now().getTime()
      ? `they were stored for ${days} days and are deleted.`
      : "retry in a few seconds.";
  const what = `None of this job's ${expected} rows can be read: ${why}`;
  return createUnreadyFailure(what, expected, expected);
};
