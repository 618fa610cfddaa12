import { Failure, type FailureCode } from "../lib/failure.ts";
import type { Fields } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { findJob } from "../rows/items.ts";
import { UNSCHEDULED } from "../runtime/leases.ts";
import { SEND_ADVICES } from "../verify/send-advice.ts";
import { formatCsv, formatXlsx } from "./export-cells.ts";
import { countExport, type ExportCounts } from "./export-counts.ts";
import {
  findExport,
  listExportBlobs,
  readExport,
  type StoredExport,
  toExportKey,
  toFileKey,
  toPartField,
  toPartKey,
} from "./export-items.ts";
import { formatJson, toJsonMetadata } from "./export-json.ts";
import { DELIMITERS, type ExportOptions } from "./export-options.ts";
import { readListedRows } from "./export-rows.ts";
import {
  type ExportSummary,
  readExportedRows,
  summarizeExport,
  type WantedRows,
} from "./exported-rows.ts";
import { assertComplete } from "./missing-rows.ts";
import { removeExport } from "./remove-exports.ts";
import { writeZip } from "./write-zip.ts";

// Makes the file of an export in parts. Each part is one blob, and a separate write records that it exists. The worker that
// finds all parts joins them; only then is the export ready, so no client receives a part or a truncated file. A repeated part
// or join gives the same bytes.

type ExportWorld = Pick<World, "table" | "blobs" | "sleep" | "callers" | "now">;

/** Makes one part, and joins the file after the last part. Returns the export afterwards; undefined when it was removed. */
export const makePart = async (
  world: ExportWorld,
  stored: StoredExport,
  part: number,
): Promise<StoredExport | undefined> => {
  const after =
    stored.state === "pending" && !stored.parts[part]
      ? await writePart(world, stored, part)
      : stored;
  return after?.state === "pending" && after.parts.every(Boolean) ? joinParts(world, after) : after;
};

const writePart = async (
  world: ExportWorld,
  stored: StoredExport,
  part: number,
): Promise<StoredExport | undefined> => {
  const job = await findJob(world.table, stored.job);
  const readable = job && (await summarizeExport(world.table, job));
  if (!readable || isOutdated(stored, readable)) {
    await removeExport(world, stored);
    return undefined;
  }
  try {
    const counts = part === 0 ? await countExport(world, readable, stored) : undefined;
    const pieces = formatPart(world, readable, { stored, part, counts });
    await world.blobs.put(toPartKey(stored, part), toBytes(pieces));
    return await updateExport(world, stored, {
      [toPartField(part)]: true,
      ...(counts && { counts }),
    });
  } catch (error) {
    if (!(error instanceof Failure) || !FINAL_CODES.includes(error.code)) throw error;
    return updateExport(world, stored, { ...FAILED, missingRows: findMissingRows(error) });
  }
};

/** All parts of an ended job must agree. The export of a running job has one part, which shows the moment of its making. */
const isOutdated = (stored: StoredExport, readable: ExportSummary): boolean =>
  stored.starts.length > 1 && stored.snapshot !== toSnapshot(readable);

/** Lists everything that changes the content of an export. */
export const toSnapshot = ({ job, expected, missing, pending, refunded }: ExportSummary): string =>
  [
    job.status,
    expected,
    missing,
    pending,
    refunded.size,
    // An earlier release writes a snapshot without this number, so it is added only when it is not 0.
    ...(job.replaced > 0 ? [job.replaced] : []),
  ].join(" ");

/** Unreadable rows: another attempt would find the same. */
const FINAL_CODES: readonly FailureCode[] = ["NOT_READY", "NOT_FOUND"];

const findMissingRows = ({ details }: Failure): number | undefined => {
  const { rows_missing: missing } = (details ?? {}) as { readonly rows_missing?: unknown };
  return typeof missing === "number" ? missing : undefined;
};

const FAILED = { ...UNSCHEDULED, state: "failed" } as const;

export const failExport = (
  world: ExportWorld,
  stored: StoredExport,
): Promise<StoredExport | undefined> => updateExport(world, stored, FAILED);

const joinParts = async (
  world: ExportWorld,
  stored: StoredExport,
): Promise<StoredExport | undefined> => {
  const parts = stored.starts.map((_, part) => toPartKey(stored, part));
  const areSeparate = parts.length > 1;
  if (areSeparate) await world.blobs.join(toFileKey(stored), parts);
  const ready = { ...UNSCHEDULED, state: "ready", readyAt: world.now().toISOString() };
  const after = await updateExport(world, stored, ready);
  // The retention of this prefix deletes parts that a crash leaves.
  if (areSeparate) for (const key of parts) await world.blobs.remove(key);
  return after;
};

/** Changes a pending export. If it failed or was removed meanwhile, removes the blobs written for it. */
const updateExport = async (
  world: ExportWorld,
  stored: StoredExport,
  set: Fields,
): Promise<StoredExport | undefined> => {
  const { id } = stored;
  const written = await world.table.write({
    update: toExportKey(stored),
    set,
    where: { id, state: "pending" },
  });
  if (written.outcome === "committed" && written.item) return readExport(written.item);
  if (written.outcome === "ambiguous") throw createUnsureFailure();
  const found = await findExport(world.table, stored);
  const current = found?.id === id ? found : undefined;
  if (current?.state !== "ready")
    for (const key of listExportBlobs(stored)) await world.blobs.remove(key);
  return current;
};

export const createUnsureFailure = (): Failure => {
  const what = "The outcome of this request is not known; send it again.";
  return new Failure("UNAVAILABLE", "nothing_charged", what);
};

type Part = {
  readonly stored: StoredExport;
  readonly part: number;
  /** Only the first part has counts. */
  readonly counts: ExportCounts | undefined;
};

const formatPart = (
  world: ExportWorld,
  readable: ExportSummary,
  { stored, part, counts }: Part,
): AsyncGenerator<string | Uint8Array> => {
  const { starts } = stored;
  const [from, to] = [starts[part] ?? 0, starts[part + 1] ?? Infinity];
  const chunks = readable.chunks.filter(({ chunk }) => chunk >= from && chunk < to);
  const rows = { ...readable, chunks };
  return stored.format === "json"
    ? formatJson(listRows(world, rows, stored), {
        selection: stored.selection,
        metadata: counts && toJsonMetadata(stored, counts),
        isLast: part === starts.length - 1,
      })
    : formatTable(world, rows, stored, part === 0);
};

/** Yields the rows of an export. Throws when a row is missing. */
export const listRows = (
  world: Pick<World, "table" | "blobs" | "sleep" | "callers">,
  readable: ExportSummary,
  wanted: WantedRows & Pick<ExportOptions, "selection">,
) => {
  const exported = readExportedRows(world, readable, wanted);
  return readListedRows(world, readable, assertComplete(readable, exported), wanted.selection);
};

/** A spreadsheet or a zip consists of one part. */
export const formatTable = (
  world: Parameters<typeof listRows>[0],
  readable: ExportSummary,
  options: Omit<ExportOptions, "format"> & { readonly format: string },
  hasHeader: boolean,
): AsyncGenerator<string | Uint8Array> => {
  const { format, selection } = options;
  const delimiter = options.delimiter && DELIMITERS[options.delimiter];
  const csv = { selection, delimiter, hasHeader };
  if (format === "xlsx") return formatXlsx(listRows(world, readable, options), selection);
  if (format !== "zip") return formatCsv(listRows(world, readable, options), csv);
  return writeZip(
    SEND_ADVICES.map((send) => ({
      name: `send-${send}.csv`,
      pieces: toBytes(formatCsv(listRows(world, readable, { ...options, send }), csv)),
    })),
  );
};

async function* toBytes(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield typeof piece === "string" ? Buffer.from(piece) : piece;
}
