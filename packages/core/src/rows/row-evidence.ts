import { gunzipSync, gzipSync } from "node:zlib";
import { COMPRESSION_LEVEL } from "../lib/compress.ts";
import { DAY_MS } from "../lib/time.ts";
import { BLOB_RETENTION_DAYS, UnreadableBlobError } from "../ports/blobs.ts";
import type { World } from "../ports/world.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import type { Evidence } from "../verify/result.ts";
import type { Job } from "./items.ts";
import type { ResultPass, VerifiedRow } from "./results.ts";

// The evidence of a pass is one blob, next to its pages and named by their token: forty times the bytes of the results,
// and hardly ever read. It is written after the pages and removed before them, so whatever removes pages finds it.
// Losing it loses no result, so a blob that cannot be stored stops nothing.

const RETENTION_DAYS = BLOB_RETENTION_DAYS["evidence/"];

export const toEvidenceKey = ({ job, chunk, token }: ResultPass): string =>
  `evidence/${job}/${chunk}-${token}.gz`;

/** An account that stores results for fewer days than evidence stores no evidence. */
const keepsEvidence = ({ retentionSeconds }: Pick<Job, "retentionSeconds">): boolean =>
  retentionSeconds >= RETENTION_DAYS * 86_400;

type EvidenceLine = readonly [row: number, evidence: Omit<Evidence, "lists">];

export const storeEvidence = async (
  world: VerifyWorld,
  job: Pick<Job, "id" | "account" | "retentionSeconds">,
  { chunk, token }: Pick<ResultPass, "chunk" | "token">,
  rows: readonly VerifiedRow[],
): Promise<void> => {
  const lists = rows.find(({ result }) => result.evidence)?.result.evidence?.lists;
  if (!lists || !keepsEvidence(job)) return;
  const requester = { account: job.account, priority: "list" } as const;
  const pause = async () => world.callers.yieldToCallers(requester);
  const key = toEvidenceKey({ job: job.id, chunk, token });
  await world.blobs.put(key, compressLines(lists, rows, pause)).catch((cause: unknown) => {
    world.log("evidence_not_stored", { job: job.id, chunk, cause });
  });
};

/** Packing this many rows takes about 0.5 ms. */
const ROWS_AT_ONCE = 25;

/** Members of one gzip file: the lists, which all rows share, and then a line for each row. */
async function* compressLines(
  lists: Evidence["lists"],
  rows: readonly VerifiedRow[],
  pause: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  yield compress(JSON.stringify(lists));
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const lines = rows.slice(from, from + ROWS_AT_ONCE).flatMap(({ row, result }) => {
      if (!result.evidence) return [];
      const { lists: _, ...evidence } = result.evidence;
      return [JSON.stringify([row, evidence] satisfies EvidenceLine)];
    });
    yield compress(lines.map((line) => `\n${line}`).join(""));
    await pause();
  }
}

const compress = (text: string): Uint8Array => gzipSync(text, { level: COMPRESSION_LEVEL });

/** Undefined when the evidence is not stored, or no longer. */
export const findEvidence = async (
  { blobs, now }: Pick<World, "blobs" | "now">,
  pass: ResultPass,
  { row, result }: VerifiedRow,
): Promise<Evidence | undefined> => {
  // The store removes an expired blob some time after its expiry.
  if (Date.parse(result.verifiedAt) + RETENTION_DAYS * DAY_MS <= now().getTime()) return undefined;
  try {
    const found = await blobs.get(toEvidenceKey(pass));
    if (!found) return undefined;
    const bytes = Buffer.concat(await Array.fromAsync(found.content));
    const [lists = "", ...lines] = gunzipSync(bytes).toString().split("\n");
    const line = lines.find((one) => one.startsWith(`[${row},`));
    if (line === undefined) return undefined;
    const [, evidence] = JSON.parse(line) as EvidenceLine;
    return { ...evidence, lists: JSON.parse(lists) as Evidence["lists"] };
  } catch (error) {
    if (error instanceof UnreadableBlobError) return undefined;
    throw error;
  }
};
