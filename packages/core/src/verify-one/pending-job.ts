import * as v from "valibot";
import { addMs } from "../lib/time.ts";
import type { Operation } from "../money/operation-items.ts";
import { getOwnerId } from "../money/payer.ts";
import type { Create, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { ReceiptOrigin } from "../receipts/receipt-claims.ts";
import { type Deferral } from "../rows/attempt.ts";
import { createPendingMessage, sendChunks } from "../rows/chunk-messages.ts";
import { toDeferredGroups } from "../rows/deferrals.ts";
import { type Job, NO_PROGRESS, RESEND_AFTER_MS, SINGLE, toJobItem } from "../rows/items.ts";
import { buildWaitingChunk, sendNextPass, toWaitingFields } from "../rows/pass.ts";
import { scheduleWork } from "../runtime/leases.ts";
import { FormVisit } from "./form-counts.ts";

/** The input of an operation, from which any process continues the verification. */
export const VerifyInput = v.object({
  email: v.string(),
  deepVerify: v.boolean(),
  includeAi: v.boolean(),
  includeEvidence: v.boolean(),
  retentionSeconds: v.number(),
  /** The reason that control of the address was not proven; 0.2.0 lacks this field. */
  control: v.optional(v.string()),
  /** 0.2.0 lacks this field. */
  receipt: v.optional(ReceiptOrigin),
  /** 0.2.0 lacks this field. */
  form: v.optional(FormVisit),
});
export type VerifyInput = v.InferOutput<typeof VerifyInput>;

/** A verification that outlasted its request becomes a job of one chunk with one row. */
export const toPendingJob = (
  operation: Operation,
  single: NonNullable<Job["single"]>,
  retentionSeconds: number,
): Job => {
  const { id, account, mode, shard, countedIn, reason, claim } = operation;
  return {
    ...NO_PROGRESS,
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
    held: operation.amount,
    shard,
    countedIn,
    reason,
    single,
    claim,
  };
};

/** The job is the first of the writes. `deferral`: set when the request already attempted the verification once. */
export const buildPendingJob = (
  world: World,
  job: Job,
  token: string,
  deferral: Deferral | undefined,
): readonly [Create, ...Write[]] => {
  const deferred = deferral && { deferred: { [deferral.reason]: 1 } };
  const item = {
    ...toJobItem({ ...job, ...deferred }),
    ...scheduleWork(SINGLE, job.id, addMs(world.now(), RESEND_AFTER_MS), token),
    ...(deferral && toWaitingFields(world.now())),
  };
  const chunk = deferral ? buildWaitingChunk(world, toWaitingChunk(job, deferral)) : [];
  return [{ create: item }, ...chunk];
};

/** Ignores a failure: the job or its chunk becomes due, and the reconciler finds it. */
export const sendPending = async (
  world: World,
  job: Job,
  deferral: Deferral | undefined,
): Promise<void> => {
  if (deferral) return sendNextPass(world, toWaitingChunk(job, deferral));
  await sendChunks(world, job, [createPendingMessage(job.id)]);
};

const toWaitingChunk = (job: Job, deferral: Deferral) => ({
  job,
  message: createPendingMessage(job.id),
  chunk: undefined,
  after: toDeferredGroups([{ row: 1, ...deferral }]),
});
