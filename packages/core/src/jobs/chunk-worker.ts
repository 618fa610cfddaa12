import { UnreadableBlobError } from "../blobs.ts";
import { readDue } from "../due.ts";
import { inMs } from "../moments.ts";
import type { Item, Table } from "../table.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import { engineFor } from "../verify/pretend.ts";
import { isOurFailure, type Verification } from "../verify/result.ts";
import { MAX_WAIT_MINUTES, type RetryCause } from "../verify/retry.ts";
import { unprobed, verify } from "../verify/verify.ts";
import type { Worker } from "../worker.ts";
import type { World } from "../world.ts";
import { CHUNKS_QUEUE, type ChunkMessage, readChunkMessage, sendChunks } from "./chunk-messages.ts";
import { loseChunk, writeOutcome } from "./chunk-outcome.ts";
import { type Chunk, chunkKey, findChunk, readChunkItem } from "./chunks.ts";
import { completeIfDone } from "./completion.ts";
import {
  type Deferral,
  findGroups,
  type Group,
  nextRetry,
  splitDue,
  toGroups,
} from "./deferrals.ts";
import { type InputRow, readChunk } from "./input-blob.ts";
import { findJob, isOpen, type Job } from "./items.ts";
import { type Row, rowsOf } from "./results.ts";
import { findSlowRow, forgetSlowRow, keepSlowRow } from "./slow-rows.ts";

/** Verifies the rows of a chunk. A message that comes twice, or late, finds its pass done and changes nothing. */
export const verifyChunk: Worker<VerifyWorld> = {
  queue: CHUNKS_QUEUE,
  handle: (world, body) => pass(world, readChunkMessage(body), verifyRows),
  giveUp: (world, body) => pass(world, readChunkMessage(body), giveUpRows),
};

/** A row whose turn it is, and why it was deferred before. */
type DueRow = {
  readonly row: InputRow;
  readonly causes: readonly RetryCause[];
  /** An earlier pass began it. */
  readonly isSlow?: boolean | undefined;
};
/** What an attempt at it came to. */
type Tried = DueRow & { readonly came: Verification | "slow" | "timeout" | "internal" };

type Work = {
  readonly attempt: (
    world: VerifyWorld,
    job: Job,
    rows: readonly DueRow[],
  ) => Promise<readonly Tried[]>;
  /** False: whatever came is final. */
  readonly mayRetry: boolean;
};

const pass = async (world: VerifyWorld, message: ChunkMessage, work: Work): Promise<void> => {
  const job = await findJob(world.table, message.job);
  if (!job?.input || !isOpen(job)) return;
  const chunk = await findChunk(world.table, job.id, message.chunk);
  const groups = chunk ? await findGroups(world.table, chunk) : undefined;
  // Another worker may have done this pass, also between the two reads.
  if (isDone(chunk, message.pass) || (chunk?.retryAt !== undefined && !groups))
    return void (await completeIfDone(world, job.id));

  const all = await readRows(world, job.input, message);
  if (!all) {
    await loseChunk(world, { job, message, chunk, before: groups ?? [] });
    return void (await completeIfDone(world, job.id));
  }

  const { due, later } = splitDue(groups ?? []);
  const tried = await work.attempt(world, job, await dueRows(world.table, all, chunk, due));
  const { rows, deferrals } = settle(world, job, tried, work.mayRetry);
  const after = [...later, ...toGroups(deferrals)];
  await writeOutcome(world, { job, message, rows, before: groups ?? [], after });
  await completeIfDone(world, job.id);
};

/** Undefined: they are gone or damaged, which no later attempt changes. Anything else that fails is tried again. */
const readRows = async (
  world: VerifyWorld,
  input: NonNullable<Job["input"]>,
  message: ChunkMessage,
): Promise<readonly InputRow[] | undefined> => {
  const { job, chunk } = message;
  const rows = await readChunk(world.blobs, input, message).catch((cause: unknown) => {
    if (!(cause instanceof UnreadableBlobError)) throw cause;
    world.log("input_damaged", { job, chunk, cause });
  });
  if (!rows) world.log("chunk_lost", { job, chunk });
  return rows ?? undefined;
};

/** `pass` is how many passes there were before. */
const isDone = (chunk: Chunk | undefined, pass: number): boolean =>
  chunk ? chunk.outcome === "refunded" || chunk.passes.length !== pass : pass !== 0;

const dueRows = async (
  table: Table,
  all: readonly InputRow[],
  chunk: Chunk | undefined,
  due: readonly Group[],
): Promise<readonly DueRow[]> => {
  if (!chunk) return all.map((row) => ({ row, causes: [] }));
  if (chunk.retryAt === undefined) return dueSinceEarlierRelease(table, all, chunk);
  const groupOf = new Map(due.flatMap((group) => group.rows.map((row) => [row, group])));
  return all.flatMap((row) => {
    const group = groupOf.get(row[0]);
    return group ? [{ row, causes: group.causes, isSlow: group.isSlow }] : [];
  });
};

/** Releases up to 0.1 deferred all rows alike and did not write down which: those that have no result. */
const dueSinceEarlierRelease = async (
  table: Table,
  all: readonly InputRow[],
  chunk: Chunk,
): Promise<readonly DueRow[]> => {
  const known = new Set((await rowsOf(table, chunk)).map(({ row }) => row));
  const causes = chunk.passes.map((): RetryCause => "greylisting");
  return all.filter(([row]) => !known.has(row)).map((row) => ({ row, causes }));
};

/** Longer than this nobody waits for the slowest of the rows: they have their turn in the next pass. */
const PASS_MS = 12 * 60_000;

const verifyRows: Work = {
  mayRetry: true,
  attempt: async (world, job, rows) => {
    const done = new AbortController();
    const late = endOfPass(world, rows, done.signal);
    try {
      return await Promise.all(rows.map((row) => tryRow(world, job, row, late)));
    } finally {
      done.abort();
    }
  },
};

/** A pass over slow rows alone waits for them: however many there are, they are a chunk's last. */
const endOfPass = async (
  { settings, sleep }: World,
  rows: readonly DueRow[],
  signal: AbortSignal,
): Promise<"slow" | "timeout"> => {
  const { slowRowsAfterMs } = settings;
  const isSoft = slowRowsAfterMs !== undefined && rows.some(({ isSlow }) => !isSlow);
  await sleep(isSoft ? slowRowsAfterMs : PASS_MS, signal);
  return isSoft ? "slow" : "timeout";
};

/** One row that breaks is no reason to do the others again. */
const tryRow = async (
  world: VerifyWorld,
  { id, account, mode, wants }: Job,
  due: DueRow,
  late: Promise<"slow" | "timeout">,
): Promise<Tried> => {
  const requester = { account, priority: "list" } as const;
  const options = {
    deepVerify: true,
    includeAi: true,
    ...wants,
    includeEvidence: false,
    requester,
  };
  const engine = engineFor(world, mode, due.causes.length);
  const key = `${id}#${due.row[0]}#${due.causes.length}`;
  const asked = findSlowRow(world, key) ?? verify(engine, due.row[1], options);
  const came = await Promise.race([asked, late]).catch((cause: unknown) => {
    world.log("row_failed", { cause });
    return "internal" as const;
  });
  if (came === "slow") keepSlowRow(world, key, asked);
  else forgetSlowRow(world, key);
  return { ...due, came };
};

/** Whatever kept the chunk from being done, again and again, is our trouble: nothing is known of its rows. */
const giveUpRows: Work = {
  mayRetry: false,
  attempt: async (_world, _job, rows) => rows.map((row) => ({ ...row, came: "internal" })),
};

type Settled = { readonly rows: readonly Row[]; readonly deferrals: readonly Deferral[] };

const settle = (
  world: VerifyWorld,
  job: Job,
  tried: readonly Tried[],
  mayRetry: boolean,
): Settled => {
  const rows: Row[] = [];
  const deferrals: Deferral[] = [];
  for (const one of tried) {
    const result = resultOf(world, job, one);
    const deferral =
      (mayRetry && deferralOf(world, job, one)) || untilSettled(world, job, one, result);
    if (deferral) deferrals.push(deferral);
    else rows.push({ row: one.row[0], result });
  }
  return { rows, deferrals };
};

const resultOf = (world: VerifyWorld, { mode }: Job, { row, came }: Tried): Verification =>
  typeof came === "string"
    ? unprobed(engineFor(world, mode), row[1], came === "slow" ? "timeout" : came)
    : came;

/** Why it is tried again: a row that the pass did not reach was not even asked for. */
const CAUSE_OF = { timeout: "unreached", internal: "internal" } as const;

/** Undefined: what came is final. */
const deferralOf = (
  world: World,
  { mode, wants }: Job,
  { row, causes, came }: Tried,
): Deferral | undefined => {
  // It was not tried again: it goes on, and its causes are those it had.
  if (came === "slow")
    return { row: row[0], reason: "timeout", causes, at: world.now().toISOString(), isSlow: true };
  const cause = typeof came === "string" ? CAUSE_OF[came] : came.retryCause;
  const { maxWaitMinutes = MAX_WAIT_MINUTES.default } = wants ?? {};
  const next = cause && nextRetry(world, { mode, maxWaitMinutes }, { causes, cause });
  const reason = typeof came === "string" ? came : came.reason;
  return next && { row: row[0], reason, ...next };
};

const SETTLED_BY_THEN_MS = 60_000;

/**
 * A row of a file that failed on our side is refunded with its result. Before the file's price is settled there is
 * nothing to refund from: the row is tried again once it is, which the reconciler sees to.
 */
const untilSettled = (
  { now }: World,
  { kind, mode, unsettled }: Job,
  { row, causes }: Tried,
  result: Verification,
): Deferral | undefined => {
  if (kind !== "file" || mode !== "live" || unsettled === 0 || !isOurFailure(result))
    return undefined;
  const at = inMs(now(), SETTLED_BY_THEN_MS).toISOString();
  return { row: row[0], reason: result.reason, causes, at };
};

/** Deferred rows have their turn now. */
export const repairChunk = async (world: World, item: Item): Promise<string> => {
  const { job, chunk, passes, from, to, waiting, checksum } = readChunkItem(item);
  const pass = passes.length;
  const message = { job, chunk, pass, from, to, ...(checksum !== undefined && { checksum }) };
  const found = await findJob(world.table, job);
  if (found) await sendChunks(world, found, [message], { rows: waiting });
  // Somebody may have it in hand for so long; sent again before that, it would be done twice.
  const later = inMs(world.now(), CHUNKS_QUEUE.visibilitySeconds * 1000);
  await world.table.write({
    update: chunkKey(job, chunk),
    set: { due_sk: later.toISOString() },
    where: { token: readDue(item).token },
  });
  return "sent_again";
};
