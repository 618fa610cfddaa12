import type { RowSelection } from "@mailproof/core/exports/export-rows";
import type { ExportFilter, ExportSummary } from "@mailproof/core/exports/exported-rows";
import { isOpenJob, type Job } from "@mailproof/core/jobs/items";
import { type PresignedLink, UnreadableBlobError } from "@mailproof/core/ports/blobs";
import type { World } from "@mailproof/core/ports/world";

// An export that is too long for a response: an object, and a link to it.

export type Format = "csv" | "json";

export const CONTENT_TYPE: Readonly<Record<Format, string>> = {
  csv: "text/csv; charset=utf-8",
  json: "application/json; charset=utf-8",
};

/** A download that has begun continues after it. */
const LINK_SECONDS = 900;

/** Incremented whenever the content of an export changes: objects of another version are not read. */
const VERSION = "v2";

export type Wanted = {
  readonly format: Format;
  readonly filter: ExportFilter;
  readonly selection: RowSelection;
  /** The delimiter of a CSV; null: that of the list. */
  readonly delimiter: DelimiterName | null;
};

/** The delimiters of a CSV. */
export const DELIMITERS = { comma: ",", semicolon: ";", tab: "\t" } as const;
export type DelimiterName = keyof typeof DELIMITERS;

/** Written once for a job that has ended, since its rows no longer change; the count in the name covers late changes. */
export const exportLink = async (
  world: World,
  { job, expected, missing }: ExportSummary,
  wanted: Wanted,
  pieces: () => AsyncIterable<string>,
): Promise<PresignedLink> => {
  const state = isOpenJob(job) ? "so-far" : "done";
  const { format, filter, selection, delimiter } = wanted;
  const kind = `${VERSION}-${state}-${selection}-${filter}-${delimiter ?? "own"}`;
  const key = `exports/${job.id}/${kind}-${expected - missing}.${format}`;
  const isThere = !isOpenJob(job) && (await isStored(world, key));
  if (!isThere) await world.blobs.put(key, bytesOf(pieces()));
  return world.blobs.presignGet(key, {
    expiresInSeconds: LINK_SECONDS,
    fileName: exportName(job, wanted),
    contentType: CONTENT_TYPE[format],
    account: job.account,
  });
};

/** One that is damaged is written again. */
const isStored = async ({ blobs }: Pick<World, "blobs">, key: string): Promise<boolean> => {
  try {
    return (await blobs.head(key)) !== undefined;
  } catch (error) {
    if (error instanceof UnreadableBlobError) return false;
    throw error;
  }
};

async function* bytesOf(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

/** The whole name stays below the 255 bytes that file systems allow, in any script. */
const NAME_LENGTH_MAX = 70;
/** Characters that a path or a Windows file name cannot have, and those that make one name look like another. */
const UNFIT = /[\p{C}\p{Zl}\p{Zp}"*/:<>?\\|]+/gu;

/** Named after the job. */
export const exportName = (
  job: Job,
  { format, filter, selection }: Omit<Wanted, "delimiter">,
): string => {
  const cut = (job.name ?? "").replace(/\.(?:csv|txt)$/i, "").slice(0, NAME_LENGTH_MAX);
  // A name that begins with a dot is hidden, or is a parent folder.
  const name =
    cut
      .replaceAll(UNFIT, "_")
      .replace(/^[\s.]+/, "")
      .trim() || job.id;
  const state = isOpenJob(job) ? "-so-far" : "";
  const rows = selection === "all" ? "all-rows" : filter === "all" ? "results" : filter;
  return `${name}-${rows}${state}.${format}`;
};
