import { addMs } from "../lib/time.ts";
import type { Operation } from "../money/operation-items.ts";
import { getOwnerId } from "../money/payer.ts";
import type { Create, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type Deferral } from "../rows/attempt.ts";
import { createPendingMessage, sendChunks } from "../rows/chunk-messages.ts";
import { toDeferredGroups } from "../rows/deferrals.ts";
import { type Job, NO_PROGRESS, RESEND_AFTER_MS, SINGLE, toJobItem } from "../rows/items.ts";
import { buildWaitingChunk, sendNextPass, toWaitingFields } from "../rows/pass.ts";
import { scheduleWork } from "../runtime/leases.ts";

/** A verification that outlasted its request becomes a job of one chunk with one row. */
export type PendingVerification = {
  readonly single: NonNullable<Job["single"]>;
  readonly retentionSeconds: number;
  /** Set when the request already attempted the verification once. */
  readonly deferral?: Deferral | undefined;
};

/** The job is the first of the writes. */
export const buildPendingJob = (
  world: World,
  operation: Operation,
  { single, retentionSeconds, deferral }: PendingVerification,
): readonly [Create, ...Write[]] => {
  const { id, account, mode, shard, countedIn, reason, claim, token } = operation;
  const job: Job = {
    id,
    owner: getOwnerId(operation),
    account,
    mode,
    kind: SINGLE,
    name: null,
    status: "pending",
    createdAt: operation.openedAt,
    retentionSeconds,
    total: 1,
    ...NO_PROGRESS,
    ...(deferral && { deferred: { [deferral.reason]: 1 } }),
    held: operation.amount,
    shard,
    countedIn,
    reason,
    single,
    claim,
  };
  const item = {
    ...toJobItem(job),
    ...scheduleWork(SINGLE, id, addMs(world.now(), RESEND_AFTER_MS), token),
  };
  if (!deferral) return [{ create: item }];
  return [
    { create: { ...item, ...toWaitingFields(world.now()) } },
    ...buildWaitingChunk(world, toWaitingChunk(operation, deferral)),
  ];
};

/** Ignores a failure: the job or its chunk becomes due, and the reconciler finds it. */
export const sendPending = async (
  world: World,
  operation: Operation,
  deferral: Deferral | undefined,
): Promise<void> => {
  if (deferral) return sendNextPass(world, toWaitingChunk(operation, deferral));
  await sendChunks(world, toSize(operation), [createPendingMessage(operation.id)]);
};

const toWaitingChunk = (operation: Operation, deferral: Deferral) => ({
  job: toSize(operation),
  message: createPendingMessage(operation.id),
  chunk: undefined,
  after: toDeferredGroups([{ row: 1, ...deferral }]),
});

const toSize = ({ id, account, mode }: Operation) =>
  ({ id, account, mode, kind: SINGLE, total: 1, chunkRows: 0 }) as const;
