import { createHash } from "node:crypto";
import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import { DELIMITER_NAMES, EXPORT_FORMATS, type ExportOptions } from "./export-options.ts";
import { ROW_SELECTIONS } from "./export-rows.ts";

// Layout. An export that is stored as a blob. A job has one export per kind: its rows and its format. The export is due until
// the file is complete. Its parts are separate blobs until the worker joins them.
//
//   pk              sk       content
//   EXPORTS#<job>   <kind>   id, state, starts, part_0, part_1, …, counts

export const EXPORT = "export";

const StoredExport = v.object({
  job: v.string(),
  kind: v.string(),
  /** Part of the blobs' keys: an export that is made again has new blobs. */
  id: v.string(),
  format: v.picklist(EXPORT_FORMATS),
  filter: v.string(),
  /** Absent in 0.2.0. */
  text: v.optional(v.nullable(v.string()), null),
  selection: v.picklist(ROW_SELECTIONS),
  delimiter: v.nullable(v.picklist(DELIMITER_NAMES)),
  state: v.picklist(["pending", "ready", "failed"]),
  /** Identifies the readable part of the job at the time of the request. */
  snapshot: v.string(),
  isLarge: v.boolean(),
  starts: v.array(v.number()),
  /** The reconciler counts how often it sent the export's messages again. */
  sends: v.optional(v.number(), 0),
  readyAt: v.optional(v.string()),
  /** The counts of the file, known once its first part exists. */
  counts: v.optional(
    v.object({
      complete: v.boolean(),
      expected: v.number(),
      missing: v.number(),
      pending: v.number(),
    }),
  ),
  /** The number of unreadable rows that made the export fail. Absent when its worker failed too often. */
  missingRows: v.optional(v.number()),
});

/** `parts` tells for each part whether it exists. */
export type StoredExport = Readonly<Omit<v.InferOutput<typeof StoredExport>, "starts">> & {
  readonly starts: readonly number[];
  readonly parts: readonly boolean[];
};

const toExportPartition = (job: string): string => `EXPORTS#${job}`;

export const toExportKey = ({ job, kind }: Pick<StoredExport, "job" | "kind">): Key => ({
  pk: toExportPartition(job),
  sk: kind,
});

/** Each part has its own field, so that separate writes can set them. */
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

/** The kind contains everything that distinguishes two exports of a job. The prefix changes when the job ends. */
export const toExportKind = (
  { format, filter, text, selection, delimiter }: ExportOptions,
  isOpen: boolean,
): string => {
  const rows = text === null && filter.length <= NAME_LENGTH_MAX ? filter : hash([filter, text]);
  return `${VERSION}-${isOpen ? "so-far" : "done"}-${selection}-${rows}-${delimiter ?? "own"}.${format}`;
};

/** A filter has up to 1,000 characters, and DynamoDB limits a sort key to 1,024 bytes. */
const NAME_LENGTH_MAX = 100;

const hash = (parts: unknown): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");

/** Increment this when the content of an export changes: the service returns no file of another version. */
const VERSION = "v2";

export const toFileKey = ({ job, id, format }: Pick<StoredExport, "job" | "id" | "format">) =>
  `exports/${job}/${id}.${format}`;

/** The only part of an export is its file. */
export const toPartKey = (stored: StoredExport, part: number): string =>
  stored.starts.length === 1 ? toFileKey(stored) : `exports/${stored.job}/${stored.id}-${part}`;

export const listExportBlobs = (stored: StoredExport): readonly string[] => [
  ...new Set([toFileKey(stored), ...stored.starts.map((_, part) => toPartKey(stored, part))]),
];
