import { addMs, DAY_MS, HOUR_MS, MINUTE_MS, toEpochSeconds } from "../lib/time.ts";
import { type PresignedLink, UnreadableBlobError } from "../ports/blobs.ts";
import type { Item } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { isOpenJob } from "../rows/items.ts";
import { scheduleWork } from "../runtime/leases.ts";
import type { ExportCounts } from "./export-counts.ts";
import {
  EXPORT,
  findExport,
  type StoredExport,
  toExportItem,
  toExportKind,
  toFileKey,
} from "./export-items.ts";
import { CONTENT_TYPES, type ExportOptions, toExportFileName } from "./export-options.ts";
import { RESEND_AFTER_MS, sendParts } from "./export-worker.ts";
import type { ExportSummary } from "./exported-rows.ts";
import { createUnsureFailure, makePart, toSnapshot } from "./make-export.ts";
import { createShortFailure, createUnreadyFailure } from "./missing-rows.ts";
import { removeExport } from "./remove-exports.ts";

/** "pending": a worker makes the export, and a repeat of the request finds it. */
export type RequestedExport =
  | { readonly state: "pending" }
  | { readonly state: "ready"; readonly link: PresignedLink; readonly counts: ExportCounts };

const ATTEMPTS_MAX = 3;

/** A download that has started continues after the link has expired. */
const LINK_SECONDS = 900;

/** Returns the file of an export. This request makes a small export itself; a worker makes a large one. */
export const requestExport = async (
  world: World,
  readable: ExportSummary,
  options: ExportOptions,
): Promise<RequestedExport> => {
  const stored = await findOrMake(world, readable, options);
  if (stored.state === "failed") {
    await removeExport(world, stored);
    throw createFailure(readable, stored);
  }
  if (stored.state === "pending" || !stored.counts) return { state: "pending" };
  const link = await world.blobs.presignGet(toFileKey(stored), {
    expiresInSeconds: LINK_SECONDS,
    fileName: toExportFileName(readable.job, options),
    contentType: CONTENT_TYPES[options.format],
    account: readable.job.account,
  });
  return { state: "ready", link, counts: stored.counts };
};

/** An erasure removes an export while it is made; this makes the export again without the erased address. */
const findOrMake = async (
  world: World,
  readable: ExportSummary,
  options: ExportOptions,
): Promise<StoredExport> => {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const found = await findOrCreate(world, readable, options);
    const stored = found.isLarge ? found : await makePart(world, found, 0);
    if (stored) return stored;
  }
  throw createUnreadyFailure(NOT_MADE, readable.expected, 0);
};

const NOT_MADE = "The export could not be made. Request it again.";

const createFailure = ({ expected }: ExportSummary, { missingRows }: StoredExport) =>
  missingRows === undefined
    ? createUnreadyFailure(NOT_MADE, expected, 0)
    : createShortFailure(expected, missingRows);

/** A repeated request finds the same export. Two concurrent requests create only one. */
const findOrCreate = async (
  world: World,
  readable: ExportSummary,
  options: ExportOptions,
): Promise<StoredExport> => {
  const { job } = readable;
  const created = createExport(world, readable, options);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const found = await findExport(world.table, created);
    if (found && (await isCurrent(world, readable, found))) return found;
    if (found) await removeExport(world, found);
    const { outcome } = await world.table.write({ create: toScheduledItem(world, created) });
    if (outcome !== "committed") continue;
    if (created.isLarge) await sendParts(world, job, created);
    return created;
  }
  throw createUnsureFailure();
};

/** The export of a running job stays valid for a minute, although the job has more rows by now, so that the waiting request gets it. */
const SO_FAR_MS = MINUTE_MS;

const isCurrent = async (
  world: World,
  readable: ExportSummary,
  found: StoredExport,
): Promise<boolean> => {
  if (found.state !== "ready") return true;
  const isFresh = world.now().getTime() - Date.parse(found.readyAt ?? "") < SO_FAR_MS;
  const mayDiffer = isOpenJob(readable.job) && found.isLarge && isFresh;
  if (found.snapshot !== toSnapshot(readable) && !mayDiffer) return false;
  return isStored(world, toFileKey(found));
};

/** A damaged export is made again. */
const isStored = async ({ blobs }: Pick<World, "blobs">, key: string): Promise<boolean> => {
  try {
    return (await blobs.head(key)) !== undefined;
  } catch (error) {
    if (error instanceof UnreadableBlobError) return false;
    throw error;
  }
};

const createExport = (
  { newId, settings: { exportRows } }: World,
  readable: ExportSummary,
  options: ExportOptions,
): StoredExport => {
  const { job } = readable;
  const starts = listStarts(readable, options, exportRows.part);
  return {
    ...options,
    job: job.id,
    kind: toExportKind(options, isOpenJob(job)),
    id: newId("exp"),
    state: "pending",
    snapshot: toSnapshot(readable),
    isLarge: countRowsToRead(readable, options) > exportRows.inRequest,
    starts,
    sends: 0,
    parts: starts.map(() => false),
  };
};

const countRowsToRead = (
  { job, expected, missing }: ExportSummary,
  { selection }: ExportOptions,
): number => (selection === "all" ? Math.max(job.total, expected) : expected - missing);

/**
 * Lists the first chunk of each part. Several parts require that every row's part is known in advance. A filter makes parts of
 * any size and needs a count first; an export of every row merges three sources in order; a running job adds rows; a
 * spreadsheet or a zip has a checksum over all rows.
 */
const listStarts = (
  { job, chunks }: ExportSummary,
  { format, filter, text, selection }: ExportOptions,
  rowsPerPart: number,
): readonly number[] => {
  const isArchive = format === "xlsx" || format === "zip";
  const isWhole = isArchive || filter !== "all" || text !== null || selection === "all";
  if (isOpenJob(job) || isWhole) return [0];
  const starts: number[] = [];
  let rowsInPart = Infinity;
  for (const { chunk, rows } of chunks) {
    if (rowsInPart >= rowsPerPart) {
      starts.push(chunk);
      rowsInPart = 0;
    }
    rowsInPart += rows;
  }
  return starts;
};

/** The record ends an hour before its blobs, which are deleted a day after their put. */
const RETENTION_MS = DAY_MS - HOUR_MS;

const toScheduledItem = (world: World, stored: StoredExport): Item => {
  const now = world.now();
  const due = addMs(now, RESEND_AFTER_MS);
  return {
    ...toExportItem(stored),
    ...scheduleWork(EXPORT, stored.id, due, world.newId("txn")),
    expires_at: toEpochSeconds(addMs(now, RETENTION_MS)),
  };
};
