import { addMs, toEpochSeconds } from "../lib/time.ts";
import { move } from "../money/ledger.ts";
import { DELAY_SECONDS_MAX } from "../ports/queue.ts";
import type { Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { scheduleWork, UNSCHEDULED } from "../runtime/leases.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import { countVerdicts } from "../verify/verdict-counts.ts";
import { TEST_KEY_RETRY_SECONDS } from "./attempt.ts";
import { type ChunkMessage, sendChunks } from "./chunk-messages.ts";
import {
  type Chunk,
  countChunkRows,
  countOwnPasses,
  createRefundedChunk,
  findChunk,
  toChunkItem,
  toChunkKey,
  toPassField,
  type UnprovenRows,
} from "./chunks.ts";
import {
  countDeferredChange,
  type DeferredGroup,
  findFirstGroup,
  findFirstTime,
  splitDue,
  toDeferredItem,
  toDeferredKey,
} from "./deferrals.ts";
import { JOB_CHECK_INTERVAL_MS, type Job, OPEN_STATUSES, toBucket, toJobKey } from "./items.ts";
import { buildPendingWrites, toPendingRow } from "./pending-row.ts";
import { countRefunds, createRefundEntry, type Refunds, toRefundFields } from "./refunds.ts";
import { replaceAsFound } from "./replace-rows.ts";
import { buildSummaryWrites } from "./result-summary.ts";
import { toPageItems, type VerifiedRow } from "./results.ts";
import { storeEvidence } from "./row-evidence.ts";
import { buildIndexWrites } from "./row-index.ts";

// One row, from its question to its bill. A row is an address of a job with the traces of its attempts: causes, ticket, exit. A
// list stores its rows in a blob (lists/accept-list.ts) and sends a message for each chunk of them; a pending verification has
// its only row in the job. The account has paid for the row by then, or its credits are held. The worker of a chunk
// (lists/chunk-worker.ts) attempts each row that is due (attempt.ts), which asks the mail server through the smtp-pool
// (smtp-pool/scheduler.ts). An attempt returns a result, or a time and a cause: then the row is deferred (deferrals.ts), and a
// later pass attempts it again. This file stores the whole pass or nothing: the pages with the results, the counts and the
// index of the job, the deferred rows, and the refunds of rows that failed on our side (refunds.ts). The last pass ends the
// job (lists/completion.ts), which refunds the other rows that cost nothing, and settles or releases the held credits.

export const CHUNK = "chunk";

export type PassResult = {
  readonly job: Job;
  readonly message: ChunkMessage;
  /** The chunk before the pass. Undefined for the first pass. */
  readonly chunk: Chunk | undefined;
  /** The rows that got a result in this pass. */
  readonly rows: readonly VerifiedRow[];
  /** The rows that were deferred before the pass, and the rows that are deferred after it. */
  readonly before: readonly DeferredGroup[];
  readonly after: readonly DeferredGroup[];
};

/** Writes the pages first, which no reader finds yet; then, in one transaction, everything that makes them count. */
export const writeOutcome = async (world: VerifyWorld, result: PassResult): Promise<void> => {
  const { job, message, rows } = result;
  const requester = { account: job.account, priority: "list" } as const;
  const token = world.newId("txn");
  const pages = { job: job.id, chunk: message.chunk, token };
  const expiresAt = getExpiry(world, job);
  const shown = rows.map((row) => (job.single ? toPendingRow(world, job, row) : dropEvidence(row)));
  for (const page of toPageItems(pages, shown, expiresAt)) {
    const { outcome } = await world.table.write({ put: page });
    if (outcome === "ambiguous") throw new Error("unknown whether the results were stored");
    await world.callers.yieldToCallers(requester);
  }
  if (!job.single) await storeEvidence(world, job, pages, rows);
  const counted = await countPass(world, result, { token, expiresAt });
  if (!counted) return;
  await sendNextPass(world, counted);
  // A child that ends with this pass replaces the rows of its parent at its end.
  if (counted.after.length > 0 || job.total > job.chunkRows)
    await replaceAsFound(world, job, shown);
};

/** Makes the pages of a pass count. Undefined when another worker stored the pass, the chunk was refunded, or the job has ended. */
const countPass = async (
  world: VerifyWorld,
  result: PassResult,
  pages: StoredPages,
): Promise<PassResult | undefined> => {
  const { job, message, chunk, rows } = result;
  const refunds = countRefunds(job, rows);
  const { outcome } = await commit(world, {
    proof: null,
    also: [
      buildChunkOutcome(result, pages),
      buildJobCounters(world, result, refunds),
      ...buildDeferralWrites(result),
      // The end of a batch refunds the rows of a batch.
      ...buildRefund(world, job, message, job.kind === "file" ? refunds.failed : 0),
      ...countVerdicts(
        job,
        job.createdAt,
        rows.map(({ result }) => result),
      ),
      ...(job.single
        ? buildPendingWrites(world, job, rows)
        : [
            ...buildSummaryWrites(job, rows, pages.expiresAt),
            ...buildIndexWrites(
              {
                job,
                chunk: message.chunk,
                token: pages.token,
                pass: countPasses(chunk),
                ...(chunk?.known && { known: chunk.known }),
              },
              rows,
              pages.expiresAt,
            ),
          ]),
    ],
  });
  if (outcome === "ambiguous") throw new Error("unknown whether the pass was stored");
  if (outcome === "committed") return result;
  // A child may have added a pass to the chunk. Then this pass follows that pass.
  const now = chunk && (await findChunk(world.table, job.id, chunk.chunk));
  return now && now.again > chunk.again && countOwnPasses(now) === countOwnPasses(chunk)
    ? countPass(world, { ...result, chunk: now }, pages)
    : undefined;
};

const countPasses = (chunk: Chunk | undefined): number => chunk?.passes.length ?? 0;

const dropEvidence = ({ row, result }: VerifiedRow): VerifiedRow => {
  const { evidence: _, ...others } = result;
  return { row, result: others };
};

/** Undefined when the reconciler must send the message: it does so at the whole minute when the next group is due. */
const findDelaySeconds = (
  { now }: World,
  { mode }: Pick<Job, "mode">,
  after: readonly DeferredGroup[],
): number | undefined => {
  const first = findFirstGroup(after);
  if (!first) return undefined;
  if (after.some(({ isSlow }) => isSlow)) return 0;
  if (mode === "test") return TEST_KEY_RETRY_SECONDS;
  if (!first.ticket) return undefined;
  const seconds = Math.ceil((Date.parse(first.at) - now().getTime()) / 1_000);
  return Math.min(DELAY_SECONDS_MAX, Math.max(0, seconds));
};

type WaitingChunk = Pick<PassResult, "job" | "message" | "chunk" | "after">;

/** The next pass over slow rows, over rows that wait for a slot, or of a test key's job. The reconciler replaces a lost message. */
export const sendNextPass = async (
  world: World,
  { job, message, chunk, after }: WaitingChunk,
): Promise<void> => {
  const delaySeconds = findDelaySeconds(world, job, after);
  if (delaySeconds === undefined) return;
  const own = chunk ? countOwnPasses(chunk) + 1 : 1;
  const next = { ...message, pass: countPasses(chunk) + 1, own };
  const due = splitDue(after).due;
  await sendChunks(world, job, [next], { delaySeconds, rows: countWaiting(due) });
};

/** The message is already sent, and by then nearly every session has ended. */
const SLOW_DUE_MS = 180_000;

const getScheduledTime = (after: readonly DeferredGroup[], retryAt: string): Date =>
  after.some(({ isSlow }) => isSlow) || findFirstGroup(after)?.ticket
    ? addMs(new Date(retryAt), SLOW_DUE_MS)
    : new Date(retryAt);

type StoredPages = { readonly token: string; readonly expiresAt: number };

const countWaiting = (groups: readonly DeferredGroup[]): number =>
  groups.reduce((sum, { rows }) => sum + rows.length, 0);

/** The writes for a chunk whose only row was deferred by its first attempt, in a request. */
export const buildWaitingChunk = (
  world: Pick<World, "newId">,
  { job, message, after }: WaitingChunk,
): readonly Write[] => {
  const pass = { job, message, chunk: undefined, rows: [], before: [], after };
  const pages = { token: world.newId("txn"), expiresAt: 0 };
  return [buildChunkOutcome(pass, pages), ...buildDeferralWrites(pass)];
};

const buildChunkOutcome = (
  { job, message, chunk: stored, rows, after }: PassResult,
  { token, expiresAt }: StoredPages,
): Write => {
  const { chunk, from, to, checksum } = message;
  const retryAt = findFirstTime(after);
  const waiting = countWaiting(after);
  // The hash of job and chunk spreads the chunks over all partitions: the reconciler reads 100 items of each per run, and a
  // large job has a thousand chunks.
  const id = `${job.id}#${chunk}`;
  const schedule = retryAt
    ? { ...scheduleWork(CHUNK, id, getScheduledTime(after, retryAt), token), retryAt }
    : { ...UNSCHEDULED, retryAt: undefined, expires_at: expiresAt };
  const field = toPassField(countPasses(stored));
  const unproven = listUnproven(rows);
  if (stored)
    return {
      update: toChunkKey(job.id, chunk),
      add: { rows: rows.length },
      // A chunk has its expiry from the start if it keeps results of an earlier list. It must not expire while rows wait.
      set: {
        expires_at: undefined,
        ...schedule,
        [field]: token,
        waiting,
        ...(unproven.length > 0 && { unproven: [...(stored.unproven ?? []), ...unproven] }),
      },
      where: { [field]: { missing: true } },
    };
  const done = {
    job: job.id,
    chunk,
    outcome: "done" as const,
    rows: rows.length,
    waiting,
    again: 0,
    from,
    to,
    checksum,
    ...(unproven.length > 0 && { unproven }),
  };
  return { create: { ...toChunkItem({ ...done, passes: [token] }), ...schedule } };
};

const listUnproven = (rows: readonly VerifiedRow[]): UnprovenRows => {
  const byKey = Map.groupBy(rows, ({ result }) => result.unproven);
  return [...byKey].flatMap(([key, of]) =>
    key === undefined ? [] : [[key, of.map(({ row }) => row)] as const],
  );
};

const buildJobCounters = (
  world: World,
  { job, rows, before, after }: PassResult,
  refunds: Partial<Refunds>,
): Write => {
  const add: Record<string, number> = {
    processed: rows.length,
    ...toRefundFields(refunds),
    ...countDeferredChange(before, after),
  };
  for (const { result } of rows) {
    const bucket = toBucket(result.status);
    add[bucket] = (add[bucket] ?? 0) + 1;
  }
  return {
    update: toJobKey(job.id),
    add,
    ...(job.single && after.length > 0 && { set: toWaitingFields(world.now()) }),
    where: { status: { oneOf: OPEN_STATUSES } },
  };
};

/** The fields of a pending verification whose row waits. The job is due later than its chunk, in case the chunk is lost. */
export const toWaitingFields = (now: Date) => ({
  status: "processing" as const,
  retry: undefined,
  due_sk: addMs(now, JOB_CHECK_INTERVAL_MS).toISOString(),
});

/** Replaces the item of the rows that waited before the pass with an item of the rows that wait after it. */
const buildDeferralWrites = ({ job, message, before, after }: PassResult): readonly Write[] => {
  const chunkRef = { job: job.id, chunk: message.chunk };
  const [timeBefore, timeAfter] = [findFirstTime(before), findFirstTime(after)];
  // A transaction writes each item once: if the time is the same, the new item replaces the old one.
  return [
    ...(timeBefore && timeBefore !== timeAfter
      ? [{ remove: toDeferredKey(chunkRef, timeBefore) }]
      : []),
    ...(timeAfter ? [{ put: toDeferredItem(chunkRef, timeAfter, after) }] : []),
  ];
};

type FailedChunk = Pick<PassResult, "job" | "message" | "chunk" | "before">;

/** For a chunk whose input is lost. Only we caused this failure, so a batch is refunded, too. */
export const failChunk = async (world: World, failed: FailedChunk): Promise<void> => {
  const { job, message, chunk } = failed;
  const pass = { ...failed, rows: [], after: [] };
  const addresses = chunk?.waiting ?? countChunkRows(job, message.chunk);
  const { outcome } = await commit(world, {
    proof: null,
    also: [
      chunk
        ? buildChunkOutcome(pass, { token: world.newId("txn"), expiresAt: getExpiry(world, job) })
        : createRefundedChunk(job, message.chunk, world.now()),
      buildJobCounters(world, pass, { no_result: addresses }),
      ...buildDeferralWrites(pass),
      ...buildRefund(world, job, message, addresses),
    ],
  });
  if (outcome === "ambiguous") throw new Error("unknown whether the failed chunk was stored");
};

const getExpiry = ({ now }: World, { retentionSeconds }: Job): number =>
  toEpochSeconds(now()) + retentionSeconds;

const buildRefund = (
  world: World,
  job: Job,
  { chunk, pass }: ChunkMessage,
  addresses: number,
): readonly Write[] => {
  // The end of a pending verification releases its held credits.
  if (addresses === 0 || job.mode !== "live" || job.single) return [];
  // The price may still be held. The reconciler settles the price; then the worker attempts this refund again.
  if (job.unsettled > 0) throw new Error("the job's dispatch is not settled yet");
  // The step differs from the step of a settle, which a chunk of ambiguous dispatch has. Each pass has its own step, because
  // rows of a chunk may fail in several passes.
  const step = `lost-${chunk}-${pass}` as const;
  return move(createRefundEntry(world, job, { step, reason: "failed" }, addresses), job.shard);
};
