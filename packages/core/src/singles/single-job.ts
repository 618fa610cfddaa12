import { type AddressText, readAddress } from "@mailproof/mail/address";
import * as v from "valibot";
import { createAccountHistory } from "../calibration/account-history.ts";
import { cancelIfInactive } from "../jobs/cancel-inactive.ts";
import { toChunkItem } from "../jobs/chunks.ts";
import { emitJobEvent } from "../jobs/completion.ts";
import { TEST_KEY_RETRY_SECONDS } from "../jobs/deferrals.ts";
import {
  ERASED_FIELDS,
  findJob,
  isOpenJob,
  type Job,
  NO_PROGRESS,
  OPEN_STATUSES,
  readJob,
  toBucket,
  toDoneFields,
  toJobItem,
  toJobKey,
} from "../jobs/items.ts";
import { toRefundFields } from "../jobs/refunds.ts";
import { toPageItems } from "../jobs/results.ts";
import { withMoneySentence } from "../lib/failure.ts";
import { addMs, MINUTE_MS, toEpochSeconds } from "../lib/time.ts";
import { toReleaseReason } from "../money/end-operation.ts";
import { releaseClaim } from "../money/idempotency-claims.ts";
import { createEndEntry, type LedgerEntry } from "../money/items.ts";
import { move } from "../money/ledger.ts";
import type { Operation } from "../money/operation-items.ts";
import { getOwnerId, toQueueGroup } from "../money/payer.ts";
import { DELAY_SECONDS_MAX } from "../ports/queue.ts";
import type { Item } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit, type Transaction } from "../runtime/commit.ts";
import { scheduleWork, UNSCHEDULED } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import type { Worker } from "../runtime/worker.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import type { Verification } from "../verify/result.ts";
import { createCacheWrites } from "../verify/result-cache.ts";
import { MAX_WAIT_MINUTES } from "../verify/retry.ts";
import { selectEngine } from "../verify/sandbox.ts";
import { createVerdictWrites } from "../verify/store-verdict.ts";
import { findFreeReason, isOurFailure } from "../verify/unpaid-results.ts";
import { countVerdicts } from "../verify/verdict-counts.ts";
import { verifyAddress } from "../verify/verify.ts";
import { emitEvent } from "../webhooks/items.ts";
import { toJobResult } from "./create-receipt.ts";
import { findSingleRetry, type SingleRetry } from "./single-retry.ts";

// A job of one address that the verify request could not finish in time.

type Single = NonNullable<Job["single"]>;

/**
 * Clients wait for these jobs, and they mostly wait for mail servers, so many run even while a list keeps the thread
 * busy.
 */
const SINGLES_QUEUE = {
  name: "singles",
  // Longer than a session with a tarpit, or than the backoffs before a throttle is one.
  visibilitySeconds: 300,
  receivesMax: 5,
  concurrency: 200,
  concurrencyWhenBusy: 100,
};

/** If its message is lost, the job is due after this time and the message is sent again. */
const RESEND_AFTER_MS = 5 * 60_000;
const ATTEMPTS_MAX = 6;

export const SINGLE = "single";

/** `retry`: the request attempted it once already. */
export const createSingleJob = (
  world: World,
  operation: Operation,
  single: Single,
  {
    retentionSeconds,
    retry,
  }: { readonly retentionSeconds: number; readonly retry?: SingleRetry | undefined },
): Item => ({
  ...toJobItem({
    id: operation.id,
    owner: getOwnerId(operation),
    account: operation.account,
    mode: operation.mode,
    kind: SINGLE,
    name: null,
    status: retry ? "processing" : "pending",
    createdAt: operation.openedAt,
    retentionSeconds,
    total: 1,
    ...NO_PROGRESS,
    ...(retry && { retry, waits: 1 }),
    held: operation.amount,
    shard: operation.shard,
    reason: operation.reason,
    single,
    claim: operation.claim,
    sends: retry ? 0 : 1,
  }),
  ...scheduleWork(
    SINGLE,
    operation.id,
    retry ? getDueTime(retry) : addMs(world.now(), RESEND_AFTER_MS),
    operation.token,
  ),
});

/** Best effort: the job stays due until it has a result. */
export const sendSingle = async (
  world: World,
  job: Pick<Job, "id" | "account" | "mode">,
  waits: number,
  delaySeconds = 0,
): Promise<void> => {
  const body = { job: job.id, waits };
  const message = { body, delaySeconds, ...toQueueGroup(getOwnerId(job)) };
  await world.queue.sendMany(SINGLES_QUEUE.name, [message]);
};

/** A message of its own is on its way: the job is due only if that one is lost. */
const getDueTime = ({ at, ticket }: SingleRetry): Date =>
  ticket ? addMs(new Date(at), RESEND_AFTER_MS) : new Date(at);

/** A test key's job continues after a second, one that waits for a slot at its time; any other when it is due. */
export const sendRetry = async (
  world: World,
  job: Pick<Job, "id" | "account" | "mode">,
  { at, ticket }: SingleRetry,
  waits: number,
): Promise<void> => {
  if (job.mode === "test") return sendSingle(world, job, waits, TEST_KEY_RETRY_SECONDS);
  if (!ticket) return;
  const seconds = Math.ceil((Date.parse(at) - world.now().getTime()) / 1_000);
  await sendSingle(world, job, waits, Math.min(DELAY_SECONDS_MAX, Math.max(0, seconds)));
};

/** `waits` names the attempt: a message that arrives twice must not ask a greylisting server again at once. */
const SingleMessage = v.object({ job: v.string(), waits: v.number() });

export const verifySingle: Worker<VerifyWorld> = {
  queue: SINGLES_QUEUE,
  needs: ["table:readwrite", "queue:send", "smtp"],
  async handle(world, body) {
    const { job: id, waits } = v.parse(SingleMessage, body);
    const job = await findJob(world.table, id);
    if (!job?.single || !isOpenJob(job) || job.waits !== waits) return;
    if (await cancelIfInactive(world, job)) return;
    const requester = { account: job.account, priority: "caller" } as const;
    const history = job.mode === "live" ? createAccountHistory(world, job.account) : undefined;
    const causes = job.retry?.causes ?? [];
    const everything = {
      ...job.single,
      includeAi: true,
      includeEvidence: true,
      requester,
      history,
      ticket: job.retry?.ticket,
      exit: job.retry?.exit,
      isPatient: causes.includes("silence"),
    };
    const engine = selectEngine(world, job.mode, causes.length);
    const email = readAddress(job.single.email);
    const result = await verifyAddress(engine, email, everything);
    if (isOurFailure(result)) throw new Error("the SMTP session failed on our side");
    const retry = findSingleRetry(world, job.mode, result, { causes, exit: job.retry?.exit });
    if (retry) await deferJob(world, job, retry);
    else await completeJob(world, job, { ...job.single, email }, result);
  },

  giveUp: {
    needs: ["table:readwrite", "queue:send"],
    async handle(world, body) {
      const { job: id, waits } = v.parse(SingleMessage, body);
      const job = await findJob(world.table, id);
      // The next attempt is scheduled: this message was of an earlier one.
      if (job && isOpenJob(job) && job.waits === waits) await failJob(world, job);
    },
  },
};

/** For a job without a result in time: sends its message again, and after too many attempts releases its credits. */
const repairSingle = async (world: World, item: Item): Promise<string> => {
  const job = readJob(item);
  if (job.sends >= ATTEMPTS_MAX) return failJob(world, job);
  await world.table.write({ update: toJobKey(job.id), add: { sends: 1 } });
  await sendSingle(world, job, job.waits);
  return "sent_again";
};

const deferJob = async (world: World, job: Job, retry: SingleRetry): Promise<void> => {
  const waits = job.waits + 1;
  const { outcome } = await world.table.write({
    update: toJobKey(job.id),
    set: { status: "processing", waits, sends: 0, due_sk: getDueTime(retry).toISOString(), retry },
    where: { status: { oneOf: OPEN_STATUSES }, waits: job.waits },
  });
  if (outcome === "ambiguous") throw new Error("unknown whether the job was deferred");
  if (outcome === "committed") await sendRetry(world, job, retry, waits);
};

const completeJob = async (
  world: World,
  job: Job,
  single: Omit<Single, "email"> & { readonly email: AddressText },
  result: Verification,
): Promise<void> => {
  const now = world.now();
  const token = world.newId("txn");
  const bucket = toBucket(result.status);
  const expiresAt = toEpochSeconds(now) + job.retentionSeconds;
  const progress = {
    total: 1,
    processed: 1,
    valid: 0,
    invalid: 0,
    risky: 0,
    unknown: 0,
    [bucket]: 1,
  };
  const free = findFreeReason(result);
  const rows = [{ row: 1, result: toJobResult(world, job, single, result) }];
  const end = free
    ? { moved: { release: job.held }, ...toReleaseReason(job, free) }
    : { moved: { settle: job.held }, reason: job.reason };
  await finishJob(world, job, end, {
    proof: {
      create: {
        ...toChunkItem({
          job: job.id,
          chunk: 0,
          outcome: "done",
          rows: 1,
          passes: [token],
          waiting: 0,
          from: 0,
          to: 0,
          checksum: 0,
        }),
        expires_at: expiresAt,
      },
    },
    also: [
      ...[...toPageItems({ job: job.id, chunk: 0, token }, rows, expiresAt)].map((page) => ({
        create: page,
      })),
      {
        update: toJobKey(job.id),
        set: {
          ...UNSCHEDULED,
          ...toDoneFields(now),
          ...ERASED_FIELDS,
          status: "completed",
          held: 0,
          processed: 1,
          [bucket]: 1,
          ...(free && toRefundFields({ [free]: 1 })),
        },
        where: { status: { oneOf: OPEN_STATUSES } },
      },
      emitEvent(world, job.owner, "job.completed", {
        job_id: job.id,
        status: "completed",
        progress,
      }),
      ...countVerdicts(job, job.createdAt, [result]),
      ...(job.mode === "live"
        ? [
            ...createCacheWrites(world, job.owner, single, result),
            ...createVerdictWrites(world, job.account, single.email.address, result),
          ]
        : []),
    ],
  });
};

const failJob = async (world: World, job: Job): Promise<string> => {
  const message = "All attempts to verify the address failed on our side.";
  const error = withMoneySentence(message, job.mode === "live" ? "refunded" : "nothing_charged");
  await finishJob(
    world,
    job,
    { moved: { release: job.held }, reason: job.reason },
    {
      proof: {
        update: toJobKey(job.id),
        set: {
          ...UNSCHEDULED,
          ...toDoneFields(world.now()),
          ...ERASED_FIELDS,
          status: "failed",
          held: 0,
          error,
        },
        where: { status: { oneOf: OPEN_STATUSES } },
      },
      also: [
        ...(job.claim ? [releaseClaim(job.claim, job.id)] : []),
        emitJobEvent(world, job, "failed", error),
      ],
    },
  );
  return "given_up";
};

/** Ends the job and its money in one transaction. Refused: another process ended them already. */
const finishJob = async (
  world: World,
  job: Job,
  end: Pick<LedgerEntry, "moved" | "reason" | "paidFor">,
  { proof, also = [] }: Transaction,
): Promise<void> => {
  const { id, account, createdAt: openedAt } = job;
  const closing = createEndEntry(
    { operation: id, account, openedAt },
    { at: world.now(), token: world.newId("txn"), ...end },
  );
  const [entry, ...moves] = move(closing, job.shard);
  // The entry is never removed. A test key's job has none.
  const transaction =
    job.mode === "live" ? { proof: entry, also: [...moves, proof, ...also] } : { proof, also };
  const { outcome } = await commit(world, transaction);
  if (outcome === "ambiguous") throw new Error("unknown whether the job was ended");
};

export const singleWork: WorkKind = {
  kind: SINGLE,
  repair: repairSingle,
  longestWaitMs: MAX_WAIT_MINUTES.most * MINUTE_MS + MINUTE_MS,
  deferredUntil: (item) => readJob(item).retry?.at,
};
