import { isGoodVerdict } from "../calibration/items.ts";
import { type InputRow, readChunk } from "../intake/input-blob.ts";
import { readVendorVerdict } from "../intake/vendors.ts";
import { addMs, MINUTE_MS, toEpochSeconds } from "../lib/time.ts";
import { UnreadableBlobError } from "../ports/blobs.ts";
import type { QueueConfig } from "../ports/queue.ts";
import type { Item, Json } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import {
  type AttemptedRow,
  beginAttempt,
  concludeAttempt,
  type DueRow,
  FIRST_ATTEMPT,
  isDisproved,
  takeBack,
  takeBackStored,
  type Waited,
} from "../rows/attempt.ts";
import {
  CHUNKS_QUEUE,
  type ChunkMessage,
  readChunkMessage,
  SINGLES_QUEUE,
  sendChunks,
  toQueue,
} from "../rows/chunk-messages.ts";
import {
  type Chunk,
  countOwnPasses,
  findChunk,
  isUntouched,
  readChunkItem,
  toChunkKey,
} from "../rows/chunks.ts";
import {
  countDeferredChange,
  type DeferredGroup,
  type DeferredRow,
  findDeferredGroups,
  splitDue,
  toDeferredGroups,
  toDeferredKey,
} from "../rows/deferrals.ts";
import { findJob, isOpenJob, type Job, toJobKey } from "../rows/items.ts";
import { CHUNK, failChunk, writeOutcome } from "../rows/pass.ts";
import type { VerifiedRow } from "../rows/results.ts";
import { findIndexedRows } from "../rows/row-index.ts";
import { getSlowRows, storeSlowRow } from "../rows/slow-rows.ts";
import { readScheduledWork, UNSCHEDULED } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import type { Worker } from "../runtime/worker.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import { MAX_WAIT_MINUTES } from "../verify/retry.ts";
import { storeVerdictSample } from "../verify/store-verdict.ts";
import { isOurFailure } from "../verify/unpaid-results.ts";
import { admitJob } from "./cancel-inactive.ts";
import { completeIfDone } from "./completion.ts";
import { settleAndComplete } from "./repair-job.ts";

const handle = (world: VerifyWorld, body: Json): Promise<void> =>
  runPass(world, readChunkMessage(body), verifyRows);

const giveUp = (world: VerifyWorld, body: Json): Promise<void> =>
  runPass(world, readChunkMessage(body), giveUpRows);

/** Verifies the rows of a chunk. A message that arrives twice, or late, finds its pass done and changes nothing. */
export const verifyChunk: Worker<VerifyWorld> = {
  queue: CHUNKS_QUEUE,
  // SQS counts an account as noisy by its messages in flight only from 30 on (docs/design/fairness.md).
  lambda: { batch: 1, concurrency: 40 },
  needs: ["table:rows", "blobs:read", "blobs:write", "queue:send", "smtp"],
  handle,
  giveUp: { needs: ["table:readwrite", "blobs:read", "queue:send", "lists"], handle: giveUp },
};

/** Verifies the row of a pending verification. The job's item contains the row, so the worker reads no blob. */
export const verifySingle: Worker<VerifyWorld> = {
  queue: SINGLES_QUEUE,
  // Ten wait side by side for mail servers and share the sessions of their process (docs/design/mail-slots.md).
  lambda: { batch: 10, concurrency: 50 },
  needs: ["table:rows", "queue:send", "smtp"],
  handle,
  giveUp: { needs: ["table:readwrite", "queue:send", "lists"], handle: giveUp },
};

type AttemptRows = (
  world: VerifyWorld,
  job: Job,
  rows: readonly DueRow[],
) => Promise<readonly AttemptedRow[]>;

const runPass = async (
  world: VerifyWorld,
  message: ChunkMessage,
  attemptRows: AttemptRows,
): Promise<void> => {
  const found = await findJob(world.table, message.job);
  const job = found && isOpenJob(found) && (await admitJob(world, found));
  if (!job) return;
  const chunk = await findChunk(world.table, job.id, message.chunk);
  const isFirst = !chunk || isUntouched(chunk);
  const groups = isFirst ? [] : await findDeferredGroups(world.table, chunk);
  // Another worker may have stored this pass, even between the two reads.
  if (isPassDone(chunk, message) || !groups) return void (await completeIfDone(world, job.id));

  const fail = async (): Promise<void> => {
    await failChunk(world, { job, message, chunk, before: groups });
    await completeIfDone(world, job.id);
  };
  const all = await readRows(world, job, message);
  if (!all) return fail();

  const { due, later } = splitDue(groups);
  const rowsDue = isFirst ? await listFirstRows(world, all, job, chunk) : listDueRows(all, due);
  const answered = await attemptRows(world, job, rowsDue);
  const attempted = await Promise.all(answered.map((row) => takeBack(world, row)));
  if (!job.single && attempted.some(isDisproved)) await takeBackStored(world, job);
  const { rows, deferrals } = concludeRows(world, job, attempted);
  // A pending verification that failed on our side has no result.
  if (job.single && rows.some(({ result }) => isOurFailure(result))) return fail();
  const after = [...later, ...toDeferredGroups(deferrals)];
  await writeOutcome(world, { job, message, chunk, rows, before: groups, after });
  if (job.mode === "live" && !job.single)
    await storeVerdictSample(world, job.account, withElsewhere(job, all, rows));
  await settleAndComplete(world, job.id);
};

/** Every row, except those that keep the result of an earlier list. */
const listFirstRows = async (
  { table }: World,
  all: readonly InputRow[],
  { retry }: Job,
  chunk: Chunk | undefined,
): Promise<readonly DueRow[]> => {
  const taken = chunk && (await findIndexedRows(table, chunk));
  const { causes, ticket, exit }: Waited = retry ?? FIRST_ATTEMPT;
  return all.flatMap((row) => (taken?.has(row[0]) ? [] : [{ row, causes, ticket, exit }]));
};

const listDueRows = (
  all: readonly InputRow[],
  due: readonly DeferredGroup[],
): readonly DueRow[] => {
  const groupByRow = new Map(due.flatMap((group) => group.rows.map((row) => [row, group])));
  return all.flatMap((row) => {
    const group = groupByRow.get(row[0]);
    return group ? [{ ...group, row }] : [];
  });
};

/** Adds to each row whether the list has a verdict of another service, and a good one. */
const withElsewhere = (
  { id, vendor }: Job,
  all: readonly InputRow[],
  rows: readonly VerifiedRow[],
) => {
  const cells = new Map(vendor && all.map(([row, _email, ...own]) => [row, own] as const));
  return rows.map(({ row, result }) => {
    const found = readVendorVerdict(vendor, cells.get(row) ?? []);
    const isGood = found && isGoodVerdict(found.status);
    const elsewhere = found && { job: id, ...(isGood !== undefined && { isGood }) };
    return { result, elsewhere };
  });
};

/** Undefined when the rows are gone or damaged, since a retry would fail again. The queue retries any other failure. */
const readRows = async (
  world: VerifyWorld,
  { input, single }: Job,
  message: ChunkMessage,
): Promise<readonly InputRow[] | undefined> => {
  if (single) return [[1, single.email]];
  const { job, chunk } = message;
  const rows =
    input &&
    (await readChunk(world.blobs, input, message).catch((cause: unknown) => {
      if (!(cause instanceof UnreadableBlobError)) throw cause;
      world.log("input_damaged", { job, chunk, cause });
    }));
  if (!rows) world.log("chunk_lost", { job, chunk });
  return rows ?? undefined;
};

const isPassDone = (chunk: Chunk | undefined, { pass, own }: ChunkMessage): boolean => {
  if (!chunk) return pass !== 0;
  const isNext = own === undefined ? chunk.passes.length === pass : countOwnPasses(chunk) === own;
  return chunk.outcome === "refunded" || chunk.waiting === 0 || !isNext;
};

/** A pass ends before its message is visible again; rows that have not finished are attempted in the next one. */
const toPassTimeout = ({ visibilitySeconds }: QueueConfig): number => visibilitySeconds * 750;

const verifyRows: AttemptRows = async (world, job, rows) => {
  const done = new AbortController();
  const deadline = waitForPassEnd(world, job, rows, done.signal);
  try {
    return await Promise.all(rows.map((row) => attemptRow(world, job, row, deadline)));
  } finally {
    done.abort("done");
  }
};

/** A pass over slow rows lasts three times as long as their verifications so far, so a chunk needs at most five such passes. */
const SLOW_PASS_GROWTH = 3;

/** Ends a pass early and stores its finished rows, so that no row waits for the mail host of another row. */
const waitForPassEnd = async (
  world: World,
  job: Job,
  rows: readonly DueRow[],
  signal: AbortSignal,
): Promise<"slow" | "timeout"> => {
  const passMs = toPassTimeout(toQueue(job));
  if (job.single) {
    await world.sleep(passMs, signal);
    return "timeout";
  }
  const { slowRowsAfterMs } = world.settings;
  const nowMs = world.now().getTime();
  const slowMs = rows.map(
    (row) => nowMs - (getSlowRows(world).get(toSlowKey(job, row))?.since ?? nowMs),
  );
  const isFresh = rows.some(({ isSlow }) => !isSlow);
  const softMs = isFresh
    ? slowRowsAfterMs
    : Math.max(slowRowsAfterMs, SLOW_PASS_GROWTH * Math.max(...slowMs));
  const isSoft = softMs < passMs;
  await world.sleep(isSoft ? softMs : passMs, signal);
  return isSoft ? "slow" : "timeout";
};

/** Identifies one attempt of a row. */
const toSlowKey = ({ id }: Job, { row, causes }: DueRow): string =>
  `${id}#${row[0]}#${causes.length}`;

/** A row that fails does not fail the others. */
const attemptRow = async (
  world: VerifyWorld,
  job: Job,
  dueRow: DueRow,
  deadline: Promise<"slow" | "timeout">,
): Promise<AttemptedRow> => {
  const asked = job.single
    ? ({ priority: "caller", deepVerify: job.single.deepVerify } as const)
    : ({ priority: "list", deepVerify: true, ...job.options } as const);
  const key = toSlowKey(job, dueRow);
  const slow = getSlowRows(world).get(key) ?? {
    verification: beginAttempt(world, job, dueRow, asked),
    since: world.now().getTime(),
  };
  const outcome = await Promise.race([slow.verification, deadline]).catch((cause: unknown) => {
    world.log("row_failed", { cause });
    return "internal" as const;
  });
  if (outcome === "slow") storeSlowRow(world, key, slow);
  else getSlowRows(world).delete(key);
  return { ...dueRow, outcome };
};

/** Ends a chunk that failed too often. Our side failed, so the rows become `unknown`. */
const giveUpRows: AttemptRows = async (_world, _job, rows) =>
  rows.map((row) => ({ ...row, outcome: "given_up" }));

const concludeRows = (world: VerifyWorld, job: Job, attempted: readonly AttemptedRow[]) => {
  const rows: VerifiedRow[] = [];
  const deferrals: DeferredRow[] = [];
  for (const one of attempted) {
    const row = one.row[0];
    const end = concludeAttempt(world, job, one);
    if ("later" in end) deferrals.push({ row, ...end.later });
    else rows.push({ row, result: end.result });
  }
  return { rows, deferrals };
};

/**
 * Sends the message for deferred rows that are due. Ends the wait of rows that a cancelled job left. A chunk without a job was
 * stored during the deletion of the job.
 */
const repairChunk = async (world: World, item: Item): Promise<string> => {
  const stored = readChunkItem(item);
  const { token } = readScheduledWork(item);
  const { job, chunk, passes, from, to, waiting, checksum } = stored;
  const found = await findJob(world.table, job);
  if (!found || !isOpenJob(found)) return closeChunk(world, found, stored, token);
  const own = countOwnPasses(stored);
  const message = { job, chunk, pass: passes.length, own, from, to, checksum };
  await sendChunks(world, found, [message], { rows: waiting });
  // A worker may process the message for this long; an earlier second message would repeat the work.
  const later = addMs(world.now(), toQueue(found).visibilitySeconds * 1000);
  await world.table.write({
    update: toChunkKey(job, chunk),
    set: { due_sk: later.toISOString() },
    where: { token },
  });
  return "sent_again";
};

/** Ends the wait of a chunk's rows after the job has ended or was deleted. The results stay. Each pass writes another token. */
const closeChunk = async (
  world: World,
  job: Job | undefined,
  chunk: Chunk,
  token: string,
): Promise<string> => {
  const key = toChunkKey(chunk.job, chunk.chunk);
  const where = { token };
  const deferred = job ? await findDeferredGroups(world.table, chunk) : [];
  const change = countDeferredChange(deferred ?? [], []);
  const set = { ...UNSCHEDULED, waiting: 0, retryAt: undefined };
  const { outcome } = await world.table.transact([
    ...(Object.keys(change).length > 0 ? [{ update: toJobKey(chunk.job), add: change }] : []),
    job
      ? {
          update: key,
          set: { ...set, expires_at: toEpochSeconds(world.now()) + job.retentionSeconds },
          where,
        }
      : { remove: key, where },
    ...(chunk.retryAt === undefined ? [] : [{ remove: toDeferredKey(chunk, chunk.retryAt) }]),
  ]);
  return outcome === "committed" ? "goes_on" : "left_to_others";
};

export const chunkWork: WorkKind = {
  kind: CHUNK,
  repair: repairChunk,
  longestWaitMs: MAX_WAIT_MINUTES.most * MINUTE_MS + MINUTE_MS,
  deferredUntil: (item) => item["retryAt"],
};
