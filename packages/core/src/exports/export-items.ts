import { createHash } from "node:crypto";
import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import { DELIMITER_NAMES, EXPORT_FORMATS, type ExportOptions } from "./export-options.ts";
import { ROW_SELECTIONS } from "./export-rows.ts";

// Layout. An export that is a blob. A job has one of each kind: what it holds, and in which form. It is due until the
// file is complete. Its parts are blobs of their own until they are joined.
//
//   pk              sk       what
//   EXPORTS#<job>   <kind>   id, state, starts, part_0, part_1, …, counts

export const EXPORT = "export";

const StoredExport = v.object({
  job: v.string(),
  kind: v.string(),
  /** Names its blobs: an export that is made again has others. */
  id: v.string(),
  format: v.picklist(EXPORT_FORMATS),
  filter: v.string(),
  /** Release 0.2.0 has none. */
  text: v.optional(v.nullable(v.string()), null),
  selection: v.picklist(ROW_SELECTIONS),
  delimiter: v.nullable(v.picklist(DELIMITER_NAMES)),
  state: v.picklist(["pending", "ready", "failed"]),
  /** How much of the job could be read when it was requested. */
  snapshot: v.string(),
  /** Whether a worker makes it. */
  isLarge: v.boolean(),
  /** The first chunk of each part. */
  starts: v.array(v.number()),
  /** How often its messages were sent again. */
  sends: v.optional(v.number(), 0),
  readyAt: v.optional(v.string()),
  /** What the file has: known once its first part is made. */
  counts: v.optional(
    v.object({
      complete: v.boolean(),
      expected: v.number(),
      missing: v.number(),
      pending: v.number(),
    }),
  ),
  /** How many rows could not be read, if that is why it failed. Absent: its worker failed too often. */
  missingRows: v.optional(v.number()),
});

/** `parts`: whether each part is made. */
export type StoredExport = Readonly<Omit<v.InferOutput<typeof StoredExport>, "starts">> & {
  readonly starts: readonly number[];
  readonly parts: readonly boolean[];
};

const toExportPartition = (job: string): string => `EXPORTS#${job}`;

export const toExportKey = ({ job, kind }: Pick<StoredExport, "job" | "kind">): Key => ({
  pk: toExportPartition(job),
  sk: kind,
});

/** One field per part, so that each is set by a write of its own. */
export const toPartField = (part: number): string => `part_${part}`;

export const toExportItem = ({ parts: _parts, ...stored }: StoredExport): Item => ({
  ...toExportKey(stored),
  ...stored,
});

export const readExport = (item: Item): StoredExport => {
  const stored = v.parse(StoredExport, item);
  return { ...stored, parts: stored.starts.map((_, part) => item[toPartField(part)] === true) };
};

export const findExport = async (
  table: Table,
  key: Pick<StoredExport, "job" | "kind">,
): Promise<StoredExport | undefined> => {
  const item = await table.get(toExportKey(key));
  return item && readExport(item);
};

export async function* iterateExports(table: Table, job: string): AsyncGenerator<StoredExport> {
  for await (const item of paginateQuery(table, { pk: toExportPartition(job) }))
    yield readExport(item);
}

/** A kind names everything that distinguishes two exports of a job. `state` differs while the job runs. */
export const toExportKind = (
  { format, filter, text, selection, delimiter }: ExportOptions,
  isOpen: boolean,
): string => {
  const rows = text === null && filter.length <= NAME_LENGTH_MAX ? filter : hash([filter, text]);
  return `${VERSION}-${isOpen ? "so-far" : "done"}-${selection}-${rows}-${delimiter ?? "own"}.${format}`;
};

/** A filter has up to 1,000 characters, and a sort key no more bytes than that. */
const NAME_LENGTH_MAX = 100;

const hash = (parts: unknown): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");

/** Incremented whenever the content of an export changes: files of another version are not handed out. */
const VERSION = "v2";

export const toFileKey = ({ job, id, format }: Pick<StoredExport, "job" | "id" | "format">) =>
  `exports/${job}/${id}.${format}`;

/** An export of one part has no other blob than its file. */
export const toPartKey = (stored: StoredExport, part: number): string =>
  stored.starts.length === 1 ? toFileKey(stored) : `exports/${stored.job}/${stored.id}-${part}`;

/** Every blob that it may have. */
export const listExportBlobs = (stored: StoredExport): readonly string[] => [
  ...new Set([toFileKey(stored), ...stored.starts.map((_, part) => toPartKey(stored, part))]),
];
