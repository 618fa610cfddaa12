import type { RowSelection } from "@mailproof/core/exports/export-rows";
import type { ExportFilter, ExportSummary } from "@mailproof/core/exports/exported-rows";
import { isOpenJob, type Job } from "@mailproof/core/jobs/items";
import { UnreadableBlobError } from "@mailproof/core/ports/blobs";
import type { World } from "@mailproof/core/ports/world";

// An export that is too long for an answer: an object, and a link to it.

export type Format = "csv" | "json";

export const CONTENT_TYPE: Readonly<Record<Format, string>> = {
  csv: "text/csv; charset=utf-8",
  json: "application/json; charset=utf-8",
};

/** A download that has begun goes on after it. */
export const LINK_SECONDS = 900;

/** Another one, whenever what stands in an export changes: those that are kept are read by nobody then. */
const VERSION = "v2";

export type Wanted = {
  readonly format: Format;
  readonly filter: ExportFilter;
  readonly selection: RowSelection;
  /** Of a CSV, where it is not that of the list. */
  readonly delimiter: DelimiterName | null;
};

/** What a CSV may be asked for. */
export const DELIMITERS = { comma: ",", semicolon: ";", tab: "\t" } as const;
export type DelimiterName = keyof typeof DELIMITERS;

/** Written once for a job that is over, since nothing comes to it any more; what fell due meanwhile is told by the count. */
export const exportLink = async (
  world: World,
  { job, expected, missing }: ExportSummary,
  wanted: Wanted,
  pieces: () => AsyncIterable<string>,
): Promise<string> => {
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

/** With the rest of a name it stays below the 255 bytes that file systems take, whatever its letters are. */
const NAME_LENGTH_MAX = 70;
/** What a path or a name of Windows cannot have, and what would make one look like another. */
const UNFIT = /[\p{C}\p{Zl}\p{Zp}"*/:<>?\\|]+/gu;

/** After the job, or the list that it was named after. */
export const exportName = (
  job: Job,
  { format, filter, selection }: Omit<Wanted, "delimiter">,
): string => {
  const cut = (job.name ?? "").replace(/\.(?:csv|txt)$/i, "").slice(0, NAME_LENGTH_MAX);
  // A name that begins with a dot is hidden, or leads up.
  const name =
    cut
      .replaceAll(UNFIT, "_")
      .replace(/^[\s.]+/, "")
      .trim() || job.id;
  const state = isOpenJob(job) ? "-so-far" : "";
  const rows = selection === "all" ? "all-rows" : filter === "all" ? "results" : filter;
  return `${name}-${rows}${state}.${format}`;
};
