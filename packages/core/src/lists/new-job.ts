import { getRetentionSeconds } from "../accounts/retention.ts";
import { toExcludedKey } from "../intake/excluded-rows.ts";
import type { InputBlob } from "../intake/input-blob.ts";
import { Failure } from "../lib/failure.ts";
import { addMs, MINUTE_MS } from "../lib/time.ts";
import { credits } from "../money/credits.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import { PLANS } from "../money/plans.ts";
import type { Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type InputMetadata, toInputItem } from "../rows/input-metadata.ts";
import {
  JOB,
  type Job,
  NO_PROGRESS,
  type ResultBucket,
  toJobItem,
  toJobKey,
} from "../rows/items.ts";
import { scheduleWork } from "../runtime/leases.ts";
import { DELETION, toDeletionItem, toDeletionKey } from "./deletion-items.ts";

/** The fields of a new job that its list and the request decide. */
export type NewList = InputMetadata &
  Pick<Job, "name" | "claim" | "upload" | "parent" | "continues" | "newRows" | "domains"> & {
    readonly options: NonNullable<Job["options"]>;
    readonly callback: NonNullable<Job["callback"]> | null;
    readonly input: InputBlob;
    readonly unique: number;
    /** Null without a column with another service's verdicts. */
    readonly vendor?: Job["vendor"] | null;
    readonly taken?: TakenRows;
    /** The write that adds this job to the parent's summary. */
    readonly summary?: Write | undefined;
  };

/** The fields of a new job of many addresses. `unsettled`: 1 until the dispatch is settled. */
export type NewJob = NewList &
  Pick<Job, "id" | "reason" | "chunkRows" | "unsettled" | "shard" | "countedIn"> & {
    readonly kind: "batch" | "file";
    readonly payer: Payer;
    readonly createdAt: Date;
  };

/** Rows of a list that keep the result of an earlier one and cost nothing. Their pages are written before the job exists. */
export type TakenRows = {
  readonly rows: number;
  readonly buckets: Readonly<Partial<Record<ResultBucket, number>>>;
  /** The chunks with only such rows. */
  readonly completeChunks: ReadonlySet<number>;
};

/** The accepting process has this time to send the chunks; then the reconciler checks the job. */
const SEND_WITHIN_MS = 60_000;

/** The writes that create the job. They belong to the transaction of the debit. */
export const buildNewJobWrites = (world: World, newJob: NewJob): Write[] => {
  const { id, payer, createdAt, callback, vendor, parent, taken, summary } = newJob;
  const { chunks, checksums, columns, emailColumn, isAscii, delimiter, excluded } = newJob;
  const { key, version } = newJob.input;
  const job: Job = {
    ...NO_PROGRESS,
    ...(taken && { processed: taken.rows, seen: taken.rows, kept: taken.rows, ...taken.buckets }),
    id,
    owner: getOwnerId(payer),
    account: payer.account,
    mode: payer.mode,
    kind: newJob.kind,
    name: newJob.name,
    status: "processing",
    createdAt: createdAt.toISOString(),
    person: payer.person?.id,
    retentionSeconds: getRetentionSeconds(payer),
    held: credits(0),
    shard: newJob.shard,
    countedIn: newJob.countedIn,
    reason: newJob.reason,
    total: newJob.unique,
    input: { key, version },
    upload: newJob.upload,
    parent,
    continues: newJob.continues,
    newRows: newJob.newRows,
    vendor: vendor ?? undefined,
    chunkRows: newJob.chunkRows,
    domains: newJob.domains,
    options: newJob.options,
    callback: callback ?? undefined,
    unsettled: newJob.unsettled,
    claim: newJob.claim,
  };
  const schedule = scheduleWork(JOB, id, addMs(createdAt, SEND_WITHIN_MS), world.newId("txn"));
  return [
    { create: { ...toJobItem(job), ...schedule } },
    {
      create: toInputItem(
        id,
        { chunks, checksums, columns, emailColumn, isAscii, delimiter, excluded },
        createdAt,
      ),
    },
    ...(parent === undefined ? [] : [buildParent(parent, id)]),
    ...(summary ? [summary] : []),
  ];
};

/** Allows one child at a time, so that two children never charge for verifying the same row. */
const buildParent = (parent: string, child: string): Write => ({
  update: toJobKey(parent),
  set: { child },
  where: { id: parent, child: { missing: true } },
});

/** A job that is larger than the plan allows is refused before it is charged. */
export const assertWithinPlan = ({ plan }: Payer, count: number): void => {
  const { jobAddressesMax } = PLANS[plan];
  if (count > jobAddressesMax) throw createTooManyFailure(plan);
};

export const createTooManyFailure = (plan: Payer["plan"]): Failure => {
  const most = PLANS[plan].jobAddressesMax.toLocaleString("en");
  const message = `The plan ${plan} allows ${most} addresses in one job.`;
  return new Failure("PAYLOAD_TOO_LARGE", "nothing_charged", message);
};

export const toInputBlobKey = (job: string): string => `inputs/${job}.jsonl`;

const listInputBlobs = (job: string): string[] => {
  const key = toInputBlobKey(job);
  return [key, toExcludedKey(key)];
};

/** Longer than any request takes to write its list and to pay for it. */
const DRAFT_MS = 10 * MINUTE_MS;

/**
 * Called before the first byte of a list is written: records it as a list to delete, so that the reconciler removes it
 * unless it becomes a job. Returns the write of the job's own transaction that withdraws the record. The transaction is
 * refused if the reconciler was faster.
 */
export const recordDraft = async (world: World, payer: Payer, job: string): Promise<Write> => {
  const token = world.newId("txn");
  const draft = {
    job,
    owner: getOwnerId(payer),
    claim: null,
    chunks: 0,
    blobs: listInputBlobs(job),
  };
  const schedule = scheduleWork(DELETION, job, addMs(world.now(), DRAFT_MS), token);
  const { outcome } = await world.table.write({
    create: { ...toDeletionItem(draft), ...schedule },
  });
  if (outcome !== "committed") throw new Error("unknown whether the list was recorded");
  return { remove: toDeletionKey(job), where: { token } };
};

/** Called before the first result of an earlier list is written: the reconciler then removes these chunks, too. */
export const recordDraftChunks = async (
  { table }: Pick<World, "table">,
  job: string,
  chunks: number,
): Promise<void> => {
  const { outcome } = await table.write({
    update: toDeletionKey(job),
    set: { chunks },
    where: { job },
  });
  if (outcome !== "committed") throw new Error("unknown whether the chunks were recorded");
};

/** Removes the input of a job that was not created. The reconciler removes stored results and anything that stays after a failure. */
export const removeInput = async (
  { blobs, table }: Pick<World, "blobs" | "table">,
  job: string,
): Promise<void> => {
  try {
    await Promise.all(listInputBlobs(job).map((key) => blobs.remove(key)));
    await table.write({ remove: toDeletionKey(job), where: { chunks: 0 } });
  } catch {
    return;
  }
};

/** Removes the list of an unpaid job. If the job may have been paid, the list stays. */
export const removeInputUnlessCharged =
  (world: Pick<World, "blobs" | "table">, job: string) =>
  async (cause: unknown): Promise<never> => {
    if (cause instanceof Failure && cause.money === "nothing_charged")
      await removeInput(world, job);
    throw cause;
  };
