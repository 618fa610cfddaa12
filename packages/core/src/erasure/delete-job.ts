import { toElsewhereKey } from "../calibration/items.ts";
import { removeExports } from "../exports/remove-exports.ts";
import { toExcludedKey } from "../intake/excluded-rows.ts";
import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { addMs } from "../lib/time.ts";
import {
  countChunks,
  DELETION,
  type Deletion,
  findDeletion,
  readDeletion,
  readPass,
  toDeletionItem,
  toDeletionKey,
  toPassesQuery,
  toPassItem,
} from "../lists/deletion-items.ts";
import { type Item, removeItem, type Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { toChunkKey } from "../rows/chunks.ts";
import { toDeferredPartition } from "../rows/deferrals.ts";
import { toInputKey } from "../rows/input-metadata.ts";
import { CLOSED_STATUSES, findJob, isOpenJob, type Job, toJobKey } from "../rows/items.ts";
import { freeIfChildEnded, freeParent } from "../rows/replace-rows.ts";
import { toSummaryKey } from "../rows/result-summary.ts";
import { type ResultPass, toPagesPartition, toPageToken } from "../rows/results.ts";
import { toEvidenceKey } from "../rows/row-evidence.ts";
import { toAddressesPartition, toIndexPartition } from "../rows/row-index.ts";
import { commit } from "../runtime/commit.ts";
import { readScheduledWork, scheduleWork } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import { removeListSample, removeSpares } from "./list-copies.ts";

// One transaction replaces a job with its deletion record. From then on no reader finds the job, and this module removes the
// job's parts one after the other. After a crash the record remains, and the reconciler continues. The job's ledger entries
// stay; they contain no addresses.

/** After a minute the reconciler removes the parts that the request did not remove. */
const REQUEST_MS = 60_000;

/**
 * A worker that read the job before its deletion may still store pages, and a request may still store an export. A chunk's run
 * takes 12 minutes, a stalled process longer. After this hour every part is removed once more, and then the record.
 */
const LATE_WRITES_MS = 3_600_000;

/** Once this returns, nobody can read any part of the job. Throws for an open job. */
export const deleteJob = async (world: World, job: Job): Promise<void> => {
  assertMayDelete(await freeIfChildEnded(world, job));
  if (job.parent !== undefined) await freeParent(world, job);
  const deletion = toDeletion(job);
  const schedule = scheduleWork(
    DELETION,
    job.id,
    addMs(world.now(), REQUEST_MS),
    world.newId("txn"),
  );
  const { outcome } = await commit(world, {
    proof: { create: { ...toDeletionItem(deletion), ...schedule } },
    also: [
      {
        remove: toJobKey(job.id),
        where: { status: { oneOf: CLOSED_STATUSES }, child: { missing: true } },
      },
    ],
  });
  // "refused": a concurrent request deletes the job, or verifies some of its rows again.
  const left = outcome === "refused" ? await findJob(world.table, job.id) : undefined;
  if (left) assertMayDelete(left);
  if (outcome === "ambiguous")
    throw createUnavailableFailure(
      "It is not known whether the job was deleted. Send the request again.",
    );
  if (outcome === "committed") await finishDeletion(world, deletion, schedule.token);
};

const assertMayDelete = (job: Job): void => {
  const { child } = job;
  const why = child === undefined ? "has not ended" : `has rows that ${child} verifies again`;
  const what = `The job ${why}, so it cannot be deleted. Cancel ${child ?? "it"} first.`;
  if (isOpenJob(job) || child !== undefined) throw new Failure("JOB_OPEN", "nothing_charged", what);
};

const toDeletion = (job: Job): Deletion => ({
  job: job.id,
  owner: job.owner,
  claim: job.claim,
  chunks: countChunks(job),
  blobs: [
    ...(job.input ? [job.input.key, toExcludedKey(job.input.key)] : []),
    ...(job.upload === undefined ? [] : [job.upload]),
  ],
});

/** For a repeated deletion: true when the job belonged to this owner. */
export const isDeleted = async (
  { table }: Pick<World, "table">,
  owner: string,
  job: string,
): Promise<boolean> => (await findDeletion(table, job))?.owner === owner;

/** Ignores a failure: the job is deleted already, and the reconciler removes the remaining parts. */
const finishDeletion = async (world: World, deletion: Deletion, token: string): Promise<void> => {
  try {
    await removeParts(world, deletion);
    await scheduleLastLook(world, deletion, token);
  } catch (cause) {
    world.log("deletion_deferred", { job: deletion.job, cause });
  }
};

const scheduleLastLook = async (world: World, { job }: Deletion, token: string): Promise<void> => {
  const now = world.now();
  await world.table.write({
    update: toDeletionKey(job),
    set: { removedAt: now.toISOString(), due_sk: addMs(now, LATE_WRITES_MS).toISOString() },
    where: { token },
  });
};

/** Removes the remaining parts of a deleted job. After the second removal no late write is possible, so it removes the record, too. */
const repairDeletion = async (world: World, item: Item): Promise<string> => {
  const deletion = readDeletion(item);
  const { token } = readScheduledWork(item);
  await removeParts(world, deletion);
  if (deletion.removedAt === undefined) {
    await scheduleLastLook(world, deletion, token);
    return "deleted";
  }
  await world.table.write({ remove: toDeletionKey(deletion.job), where: { token } });
  return "goes_on";
};

/**
 * Removes the parts that contain addresses first. A running download finds rows missing and aborts, because the chunk's record
 * goes after its rows.
 */
const removeParts = async (
  world: World,
  { job, chunks, blobs, claim, removedAt }: Deletion,
): Promise<void> => {
  await removeListSample(world.table, { id: job, claim });
  await removeExports(world, job);
  await removeSpares(world, { id: job }, { isLast: removedAt !== undefined });
  for (const key of blobs) await world.blobs.remove(key);
  for (let from = 0; from < chunks; from += CONCURRENCY)
    await Promise.all(
      Array.from({ length: Math.min(CONCURRENCY, chunks - from) }, (_, at) =>
        removePages(world, job, from + at),
      ),
    );
  await removeEvidence(world, job, removedAt !== undefined);
  const chunkRecords = toChunkKey(job, 0).pk;
  const indexes = [toAddressesPartition(job), toIndexPartition(job), toDeferredPartition(job)];
  for (const pk of [...indexes, chunkRecords])
    await removeItems(world.table, await listItems(world.table, pk));
  for (const key of [toSummaryKey(job), toInputKey(job), toElsewhereKey(job)])
    await removeItem(world.table, key);
};

/**
 * Page keys contain the token of a worker's run, and the worker may store evidence under it after this removal. Each token is
 * therefore recorded for the last look. Without a deletion record the last look is over, and nothing would remove the evidence:
 * this process stalled, or the clock jumped. The last look also removes pages that are stored after this list.
 */
const removePages = async ({ table }: World, job: string, chunk: number): Promise<void> => {
  const pages = await listItems(table, toPagesPartition({ job, chunk }));
  for (const token of new Set(pages.map(toPageToken)))
    await recordPass(table, { job, chunk, token });
  await removeItems(table, pages);
};

const recordPass = async (table: Table, pass: ResultPass): Promise<void> => {
  const { outcome } = await table.transact([
    { put: toPassItem(pass) },
    { check: toDeletionKey(pass.job), where: { job: pass.job } },
  ]);
  if (outcome === "ambiguous") throw new Error("unknown whether a pass was recorded");
};

const removeEvidence = async (world: World, job: string, isLast: boolean): Promise<void> => {
  for await (const item of paginateQuery(world.table, toPassesQuery(job))) {
    await world.blobs.remove(toEvidenceKey(readPass(item)));
    if (isLast) await removeItem(world.table, item);
  }
};

const CONCURRENCY = 8;
const REMOVALS_AT_ONCE = 50;

const listItems = (table: Table, pk: string): Promise<readonly Item[]> =>
  Array.fromAsync(paginateQuery(table, { pk }));

const removeItems = async (table: Table, items: readonly Item[]): Promise<void> => {
  for (let at = 0; at < items.length; at += REMOVALS_AT_ONCE)
    await Promise.all(
      items.slice(at, at + REMOVALS_AT_ONCE).map((item) => removeItem(table, item)),
    );
};

export const deletionWork: WorkKind = {
  kind: DELETION,
  repair: repairDeletion,
  longestWaitMs: LATE_WRITES_MS,
};
