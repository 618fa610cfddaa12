import { attachment } from "@mailproof/core/attachment";
import { Failure } from "@mailproof/core/failure";
import {
  type ExportedRows,
  exportedRows,
  FILTERS,
  type Filter,
  findReadable,
  type Readable,
  rowsAtMost,
} from "@mailproof/core/jobs/export";
import { csvOf } from "@mailproof/core/jobs/export-csv";
import { isOpen } from "@mailproof/core/jobs/items";
import type { World } from "@mailproof/core/world";
import * as v from "valibot";
import { type Answer, endpoint } from "../endpoint.ts";
import { CONTENT_TYPE, exportLink, exportName, jsonOf, LINK_SECONDS } from "../export-object.ts";
import { jobOf, ResultRow, toRow } from "../jobs.ts";
import { Count, Id, KEYED_ERRORS } from "../schemas.ts";

const FORMATS = ["csv", "json"] as const;

const oneOf = <const T extends readonly string[]>(names: T) =>
  v.pipe(v.string(), v.toLowerCase(), v.picklist(names, `must be one of ${names.join(", ")}`));

const Facts = v.object({
  format: v.literal("json"),
  filter: v.picklist(FILTERS),
  /** The job is completed, and every row that it counts is here: those that the filter lets through. */
  complete: v.boolean(),
  expected_rows: Count,
  rows_missing: Count,
});
const Inline = v.object({ ...Facts.entries, results: v.array(ResultRow) });
const Link = v.object({
  ...Facts.entries,
  download_url: v.string(),
  expires_in_seconds: Count,
  expires_at: v.string(),
});

type Facts = v.InferOutput<typeof Facts>;
type Exported = v.InferOutput<typeof Inline> | v.InferOutput<typeof Link>;

export const getJobsIdDownload = endpoint({
  route: "GET /v1/jobs/{id}/download",
  summary: "Export the results of a job as CSV beside its own columns, or as JSON.",
  price: null,
  access: "verification:read",
  needs: ["table:readwrite", "blobs:read", "blobs:write"],
  answers: [200],
  errors: [...KEYED_ERRORS, "NOT_FOUND", "NOT_READY"],

  path: v.strictObject({ id: Id }),
  query: v.strictObject({
    format: v.optional(oneOf(FORMATS), "csv"),
    filter: v.optional(oneOf(FILTERS), "all"),
  }),
  output: v.union([Inline, Link]),
  enveloped: false,

  async handle(world, caller, { path, query: { format, filter } }): Promise<Answer<Exported>> {
    const job = await jobOf(world, caller, path.id);
    const readable = await findReadable(world.table, job);
    if (readable.expected === 0) throw noRows(readable);
    if (readable.missing === readable.expected) throw noneReadable(world, readable);
    return format === "csv" ? csv(world, readable, filter) : json(world, readable, filter);
  },
});

const csv = (world: World, readable: Readable, filter: Filter): Answer<Exported> => {
  const { job, missing } = readable;
  if (missing > 0) throw tooShort(readable, missing);
  const rows = () => csvOf(world, job, whole(readable, exportedRows(world, readable, filter)));
  const format = "csv";
  return {
    status: 200,
    headers: {
      "content-type": CONTENT_TYPE.csv,
      "content-disposition": attachment(exportName(job, { format, filter })),
    },
    stream: rows(),
    elsewhere: () => exportLink(world, readable, { format, filter }, rows),
  };
};

const INLINE_ROWS_MAX = 5_000;
/** Lambda answers with at most 6 MB, and there every quote of this is two bytes. */
const INLINE_BYTES_MAX = 4_500_000;

const json = async (
  world: World,
  readable: Readable,
  filter: Filter,
): Promise<Answer<Exported>> => {
  if (rowsAtMost(readable, filter) <= INLINE_ROWS_MAX) {
    const data = await inline(world, readable, filter);
    if (Buffer.byteLength(JSON.stringify(data)) <= INLINE_BYTES_MAX) return { status: 200, data };
  }
  const facts = factsOf(readable, filter);
  const rows = () => whole(readable, exportedRows(world, readable, filter));
  const format = "json";
  const download_url = await exportLink(world, readable, { format, filter }, () =>
    jsonOf(facts, rows()),
  );
  const expires_at = new Date(world.now().getTime() + LINK_SECONDS * 1_000).toISOString();
  return {
    status: 200,
    data: { ...facts, download_url, expires_in_seconds: LINK_SECONDS, expires_at },
  };
};

const factsOf = ({ job, expected, missing }: Readable, filter: Filter): Facts => ({
  format: "json",
  filter,
  complete: job.status === "completed" && missing === 0,
  expected_rows: expected,
  rows_missing: missing,
});

/** Everything is read before anything is said, so what is missing is counted to the row. */
const inline = async (world: World, readable: Readable, filter: Filter) => {
  const results: v.InferOutput<typeof ResultRow>[] = [];
  let found = 0;
  for await (const { read, rows } of exportedRows(world, readable, filter)) {
    found += read;
    for (const row of rows) results.push(toRow(row));
  }
  const missing = readable.expected - found;
  if (found === 0) throw noneReadable(world, readable);
  return { ...factsOf({ ...readable, missing }, filter), results };
};

/** What was promised before the first byte is kept, or the answer breaks off: half a file is not to pass for the whole. */
async function* whole(
  readable: Readable,
  exported: AsyncIterable<ExportedRows>,
): AsyncGenerator<ExportedRows> {
  for await (const one of exported) {
    if (one.read < one.chunk.rows) throw tooShort(readable, one.chunk.rows - one.read);
    yield one;
  }
}

const noRows = ({ job }: Readable): Failure => {
  const what = isOpen(job) ? "This job has no rows yet." : "This job came to no rows.";
  return new Failure("NOT_FOUND", "nothing_charged", what);
};

const noneReadable = (world: World, { job, expected }: Readable): Failure => {
  const days = Math.round(job.keptSeconds / 86_400);
  const overAt = Date.parse(job.completedAt ?? job.createdAt) + job.keptSeconds * 1_000;
  const why =
    overAt <= world.now().getTime()
      ? `they were kept for ${days} days, and are gone.`
      : "ask again in a moment.";
  const what = `This job counts ${expected} rows, and none of them can be read: ${why}`;
  return notReady(what, expected, expected);
};

const tooShort = ({ expected }: Readable, missing: number): Failure => {
  const rows = missing === 1 ? "row" : "rows";
  const what = `${missing} of ${expected} ${rows} cannot be read, and a CSV could not say so. Ask again in a moment, or with format=json, which tells what is missing.`;
  return notReady(what, expected, missing);
};

const notReady = (what: string, expected_rows: number, rows_missing: number): Failure =>
  new Failure("NOT_READY", "nothing_charged", what, {
    retryable: true,
    details: { expected_rows, rows_missing },
  });
