import { addMs, MINUTE_MS } from "../lib/time.ts";
import type { Halves } from "../money/credits.ts";
import { move } from "../money/ledger.ts";
import { PRICES } from "../money/prices.ts";
import type { Item, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { listFirstMessages, sendChunks } from "../rows/chunk-messages.ts";
import {
  countChunkRows,
  createRefundedChunk,
  findChunk,
  isUntouched,
  iterateChunks,
} from "../rows/chunks.ts";
import {
  isOpenJob,
  JOB,
  JOB_CHECK_INTERVAL_MS,
  type Job,
  OPEN_STATUSES,
  RESEND_AFTER_MS,
  readJob,
  SINGLE,
  toJobKey,
} from "../rows/items.ts";
import { toRefundFields } from "../rows/refunds.ts";
import { freeParent } from "../rows/replace-rows.ts";
import { commit } from "../runtime/commit.ts";
import { readScheduledWork } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import { MAX_WAIT_MINUTES } from "../verify/retry.ts";
import { completeIfDone } from "./completion.ts";

// Repairs an open job: sends missing chunks, settles unresolved money, and ends the job if it is done.

/** Chunks that could not be sent for this long are released. */
const GIVE_UP_AFTER_MS = 3_600_000;
const RESOLVE_INTERVAL_MS = 60_000;
const CHUNKS_PER_RESOLVE = 50;
/** A job has at most 1,000 chunks. */
const RUNS_MAX = 1_000 / CHUNKS_PER_RESOLVE;

const repairJob = async (world: World, item: Item): Promise<string> => {
  const job = readJob(item);
  const { token } = readScheduledWork(item);
  if (job.status === "cancelled") {
    await freeParent(world, job);
    return "completed";
  }
  if (job.unresolved.length > 0) return resolveChunks(world, job, token);
  if (await completeIfDone(world, job.id)) return "completed";
  const isStuck = job.processed === job.seen;
  const sent = isStuck ? await resendUndone(world, job) : 0;
  const isPending = job.kind === "single" && sent > 0;
  await scheduleNextCheck(world, job, token, isPending ? RESEND_AFTER_MS : JOB_CHECK_INTERVAL_MS);
  return isStuck ? "sent_again" : "goes_on";
};

/**
 * Ends the job once all its addresses are done. The outcome of a chunk proves that the queue took it, so credits held for an
 * ambiguous dispatch are settled at once. The reconciler's lease decides if both try; the reconciler repeats a failed step.
 */
export const settleAndComplete = async (world: World, id: string): Promise<void> => {
  if (await completeIfDone(world, id)) return;
  for (let run = 0; run < RUNS_MAX; run++) {
    const item = await world.table.get(toJobKey(id));
    const job = item && readJob(item);
    if (
      !job ||
      !isOpenJob(job) ||
      job.unresolved.length === 0 ||
      job.processed + job.refunds.no_result < job.total
    )
      return;
    const { token } = readScheduledWork(item);
    // Refused: the reconciler holds the lease of the job, and settles the job itself.
    if (!(await resolveChunks(world, job, token).catch(() => null))) return;
  }
};

/** Sends every chunk without an outcome again, and returns how many. A chunk that arrives twice changes nothing. */
const resendUndone = async (world: World, job: Job): Promise<number> => {
  const found = new Set<number>();
  for await (const chunk of iterateChunks(world.table, job.id))
    if (!isUntouched(chunk)) found.add(chunk.chunk);
  const messages = await listFirstMessages(world.table, job);
  const undone = messages.filter(({ chunk }) => !found.has(chunk));
  await sendChunks(world, job, undone);
  return undone.length;
};

const scheduleNextCheck = async (
  world: World,
  { id, processed }: Job,
  token: string,
  afterMs: number,
): Promise<void> => {
  await world.table.write({
    update: toJobKey(id),
    set: { seen: processed, due_sk: addMs(world.now(), afterMs).toISOString() },
    where: { token },
  });
};

/** Sends chunks with an unknown queue outcome again until the outcome is known, and releases chunks that never get an outcome. */
const resolveChunks = async (world: World, job: Job, token: string): Promise<string> => {
  const messages = await listFirstMessages(world.table, job);
  const isHopeless = world.now().getTime() - Date.parse(job.createdAt) > GIVE_UP_AFTER_MS;
  let now = job;
  for (const chunk of job.unresolved.slice(0, CHUNKS_PER_RESOLVE)) {
    const found = await findChunk(world.table, job.id, chunk);
    const message = messages[chunk];
    const sent = found || !message ? "sent" : (await sendChunks(world, job, [message]))[0];
    if (sent !== "sent" && !isHopeless) continue;
    const kind = sent === "sent" ? "settle" : "release";
    now = await resolveChunk(world, now, { chunk, kind, token });
  }
  const isLeft = now.unresolved.length > 0;
  await world.table.write({
    update: toJobKey(job.id),
    set: {
      due_sk: addMs(
        world.now(),
        isLeft ? RESOLVE_INTERVAL_MS : JOB_CHECK_INTERVAL_MS,
      ).toISOString(),
    },
    where: { token },
  });
  if (!isLeft) await completeIfDone(world, job.id);
  return isLeft ? "partly_resolved" : "resolved";
};

type Resolution = {
  readonly chunk: number;
  readonly kind: "settle" | "release";
  readonly token: string;
};

/** Returns the job after the change. A chunk has one ledger entry, so it is either settled or released. */
const resolveChunk = async (world: World, job: Job, resolution: Resolution): Promise<Job> => {
  const { chunk, kind, token } = resolution;
  const addresses = countChunkRows(job, chunk);
  const amount = (addresses * PRICES.fileAddress) as Halves;
  const held = job.mode === "live" ? amount : 0;
  const unresolved = job.unresolved.filter((one) => one !== chunk);
  const after: Job = {
    ...job,
    unresolved,
    unsettled: unresolved.length,
    held: (job.held - held) as Halves,
    refunds: {
      ...job.refunds,
      no_result: job.refunds.no_result + (kind === "release" ? addresses : 0),
    },
  };
  const { outcome } = await commit(world, {
    proof: null,
    also: [
      {
        update: toJobKey(job.id),
        set: {
          unresolved,
          unsettled: unresolved.length,
          held: after.held,
          ...toRefundFields({ no_result: after.refunds.no_result }),
          ...(unresolved.length === 0 && { status: "processing" }),
        },
        where: { token, unsettled: job.unsettled, status: { oneOf: OPEN_STATUSES } },
      },
      ...buildResolutionMoney(world, job, resolution, amount),
      ...(kind === "release" ? [createRefundedChunk(job, chunk, world.now())] : []),
    ],
  });
  // Refused: a worker finished the chunk meanwhile, or another process holds the job. The next check reads the reason.
  if (outcome !== "committed") throw new Error(`chunk ${chunk} was not resolved: ${outcome}`);
  return after;
};

const buildResolutionMoney = (
  world: World,
  { id, account, createdAt: openedAt, mode, reason, shard, countedIn }: Job,
  { chunk, kind, token }: Resolution,
  amount: Halves,
): readonly Write[] =>
  mode === "test"
    ? []
    : move(
        {
          account,
          operation: id,
          openedAt,
          countedIn,
          step: `chunk-${chunk}`,
          at: world.now().toISOString(),
          moved: { [kind]: amount },
          reason,
          token,
        },
        shard,
      );

export const jobWork: WorkKind = {
  kind: JOB,
  repair: repairJob,
  longestWaitMs: JOB_CHECK_INTERVAL_MS,
};

export const singleWork: WorkKind = {
  ...jobWork,
  kind: SINGLE,
  // Release 0.2.0 schedules the next attempt here.
  longestWaitMs: MAX_WAIT_MINUTES.most * MINUTE_MS + MINUTE_MS,
  deferredUntil: (item) => readJob(item).retry?.at,
};
