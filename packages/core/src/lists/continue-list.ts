import { getRetentionSeconds } from "../accounts/retention.ts";
import { toSlices } from "../intake/input-blob.ts";
import { Failure } from "../lib/failure.ts";
import { toEpochSeconds } from "../lib/time.ts";
import type { Halves } from "../money/credits.ts";
import type { IdempotencyKey } from "../money/idempotency-claims.ts";
import type { Payer } from "../money/payer.ts";
import { PRICES } from "../money/prices.ts";
import { findRemainingCredits } from "../money/remaining-credits.ts";
import type { Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { toChunkItem } from "../rows/chunks.ts";
import { isOpenJob, type Job } from "../rows/items.ts";
import { createKeptPasses, toRuns } from "../rows/kept-passes.ts";
import { acceptList } from "./accept-list.ts";
import { FILE, type FileCounts, type FileResult } from "./dispatch.ts";
import {
  type Comparison,
  type Continued,
  compareLists,
  countChangedRows,
  createListedRows,
  KEPT,
  NEW,
  type ReadList,
} from "./earlier-results.ts";
import { type FileRequest, type FileToRead, readList, toFileCounts, toListFields } from "./file.ts";
import { type NewJob, recordDraftChunks, toInputBlobKey } from "./new-job.ts";

// A new file continues the list of an earlier job. Rows whose address has a good result there keep that result at no
// charge; the job verifies and charges all other rows. The kept results are passes of the new job's chunks. They are written
// before the job exists, so no reader finds them, and count in the transaction that charges the list and creates the job:
// a crash in between leaves a draft, which the reconciler removes.

export type ContinuedResult = Extract<FileResult, { readonly dispatched: unknown }> & {
  readonly compared: Comparison;
};

/** `findContinued` is asked only if no earlier request with this key was accepted. */
export const continueList = async (
  world: World,
  payer: Payer,
  request: FileRequest,
  findContinued: () => Promise<Continued>,
  idempotencyKey: IdempotencyKey | null,
): Promise<ContinuedResult> => {
  const chunkRows = world.settings.chunkRows.file;
  const order = {
    kind: FILE,
    reason: "verify_file",
    idempotencyKey,
    chunkRows,
    price: PRICES.fileAddress,
    statesRemaining: true,
  } as const;
  const accepted = await acceptList(world, payer, order, async (id) => {
    const continued = await findContinued();
    assertEnded(continued.earlier);
    const { intake, comparison, taken, summary } = await continued.inTurn(id, async () => {
      const rows = createListedRows();
      const key = toInputBlobKey(id);
      const read = await readList(world, payer, request, { key, onRow: rows.onRow });
      const expiresAt = toEpochSeconds(world.now()) + getRetentionSeconds(payer);
      const list = { id, chunkRows, expiresAt, list: { intake: read, rows } };
      return { intake: read, ...(await keepResults(world, list, continued)) };
    });
    return {
      list: {
        ...toListFields(request, intake, idempotencyKey),
        continues: continued.earlier.id,
        newRows: comparison.added,
        taken,
        summary,
      },
      answer: { counts: toFileCounts(intake), compared: comparison },
    };
  });
  const { job, counts, compared, price, replayed, left } = accepted;
  const remaining = left ?? (await findRemainingCredits(world.table, payer));
  const result = { job, counts, compared, remaining, dispatched: { refused: 0, unknown: 0 } };
  return replayed
    ? { ...result, price: 0 as Halves, kind: "replayed" }
    : { ...result, price, kind: "accepted" };
};

const assertEnded = (earlier: Job): void => {
  if (!isOpenJob(earlier)) return;
  const what = `The job ${earlier.id} has not ended, so no list can continue it yet.`;
  throw new Failure("JOB_OPEN", "nothing_charged", what);
};

export type ListPreview = {
  readonly counts: FileCounts;
  /** Undefined when the list continues no earlier list. */
  readonly compared: Comparison | undefined;
  /** Null without a comparison, when the files' columns differ, or when the earlier file is gone. */
  readonly changed: number | null;
};

/** Reads the list and compares it with the continued list, without a job or a charge. */
export const previewList = async (
  world: World,
  payer: Payer,
  file: FileToRead,
  continued: Continued | undefined,
): Promise<ListPreview> => {
  if (!continued) {
    const intake = await readList(world, payer, file, { key: "preview", blobs: NOWHERE });
    return { counts: toFileCounts(intake), compared: undefined, changed: null };
  }
  assertEnded(continued.earlier);
  return continued.inTurn(JSON.stringify(file), async () => {
    const rows = createListedRows();
    const to = { key: "preview", onRow: rows.onRow, blobs: NOWHERE };
    const intake = await readList(world, payer, file, to);
    const list = { intake, rows };
    const { comparison } = await compareLists(world, list, continued, () => undefined);
    const changed = await countChangedRows(world, list, continued);
    return { counts: toFileCounts(intake), compared: comparison, changed };
  });
};

/** Reads each put stream and stores nothing. */
const NOWHERE: Pick<World["blobs"], "put"> = {
  put: async (_key, content) => {
    let bytes = 0;
    for await (const piece of content) bytes += piece.length;
    return { version: "", bytes };
  },
};

type NewList = {
  readonly id: string;
  readonly chunkRows: number;
  readonly expiresAt: number;
  readonly list: ReadList;
};

type Kept = {
  readonly comparison: Comparison;
  readonly summary: NewJob["summary"];
  readonly taken: NonNullable<NewJob["taken"]>;
};

const WRITES_AT_ONCE = 50;

/** Writes the results that the new list keeps, and the items of the chunks that have any address of the earlier list. */
const keepResults = async (
  world: World,
  { id, chunkRows, expiresAt, list }: NewList,
  continued: Continued,
): Promise<Kept> => {
  const { intake, rows } = list;
  await recordDraftChunks(world, id, intake.checksums.length);
  const { account } = continued.earlier;
  const passes = createKeptPasses(world, { id, account, domains: intake.domains }, expiresAt);
  const { comparison, states } = await compareLists(world, list, continued, (position, result) =>
    passes.add(Math.floor(position / chunkRows), [rows.getRow(position), result]),
  );
  await passes.end();
  const completeChunks = new Set<number>();
  const puts: Write[] = [];
  for (const [chunk, slice] of toSlices(intake).entries()) {
    const of = { from: chunk * chunkRows, to: Math.min(intake.unique, (chunk + 1) * chunkRows) };
    const { known, kept } = countKnown(list, states, of);
    if (known.length === 0) continue;
    const waiting = of.to - of.from - kept;
    if (waiting === 0) completeChunks.add(chunk);
    const own = passes.listPasses(chunk);
    const counts = { rows: kept, waiting, again: own.length, known };
    const item = { ...slice, job: id, chunk, outcome: "done", passes: own, ...counts } as const;
    puts.push({ put: { ...toChunkItem(item), expires_at: expiresAt } });
  }
  for (let from = 0; from < puts.length; from += WRITES_AT_ONCE) {
    const some = puts.slice(from, from + WRITES_AT_ONCE);
    const results = await Promise.all(some.map((put) => world.table.write(put)));
    if (results.some(({ outcome }) => outcome !== "committed"))
      throw new Error("unknown whether the chunks were stored");
  }
  const { buckets } = passes;
  const summary = comparison.kept > 0 ? passes.buildSummary() : undefined;
  return { comparison, summary, taken: { rows: comparison.kept, buckets, completeChunks } };
};

/** For one chunk: the rows that the earlier list also contains, as runs, and the number of rows that keep a result. */
const countKnown = (
  { rows }: ReadList,
  states: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly known: readonly number[]; readonly kept: number } => {
  const known: number[] = [];
  let kept = 0;
  for (let position = from; position < to; position++) {
    const state = states[position];
    if (state !== NEW) known.push(rows.getRow(position));
    if (state === KEPT) kept += 1;
  }
  return { known: toRuns(known), kept };
};
