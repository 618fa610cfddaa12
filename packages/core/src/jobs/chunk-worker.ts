import { commit } from "../commit.ts";
import { dueAt, NOT_DUE, readDue } from "../due.ts";
import { epochSeconds, inMs } from "../moments.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import { move } from "../money/ledger.ts";
import type { Item, Write } from "../table.ts";
import { engineFor } from "../verify/engine.ts";
import { isOurFailure, type Verification } from "../verify/result.ts";
import { unprobed, verify } from "../verify/verify.ts";
import type { Worker } from "../worker.ts";
import type { World } from "../world.ts";
import { CHUNKS_QUEUE, type ChunkMessage, readChunkMessage, sendChunks } from "./chunk-messages.ts";
import {
  type Chunk,
  chunkItem,
  chunkKey,
  findChunk,
  givenBack,
  passField,
  readChunkItem,
} from "./chunks.ts";
import { completeIfDone } from "./completion.ts";
import { type InputRow, readChunk } from "./input-blob.ts";
import { bucketOf, findJob, isOpen, type Job, jobKey, OPEN_STATUSES } from "./items.ts";
import { COME_AGAIN_AFTER_MS } from "./passes.ts";
import { pageItems, type Row, rowsOf } from "./results.ts";

/** Verifies the rows of a chunk. A message that comes twice, or late, finds its pass done and changes nothing. */
export const verifyChunk: Worker = {
  queue: CHUNKS_QUEUE,
  handle: (world, body) => pass(world, readChunkMessage(body), verified),
  giveUp: (world, body) => pass(world, readChunkMessage(body), givenUp),
};

/** What a pass comes to: the rows that are settled by it, and how many of them we failed at. The others wait. */
type Settled = { readonly rows: readonly Row[]; readonly lost: number };
type Pass = (
  world: World,
  job: Job,
  rows: readonly InputRow[],
  isLast: boolean,
) => Promise<Settled>;

const pass = async (world: World, message: ChunkMessage, work: Pass): Promise<void> => {
  const job = await findJob(world.table, message.job);
  if (!job?.input || !isOpen(job)) return;
  const before = await findChunk(world.table, job.id, message.chunk);
  if (isDone(before, message.pass)) return void (await completeIfDone(world, job.id));

  const isLast = message.pass >= COME_AGAIN_AFTER_MS.length;
  // What is lost in the end is paid back, and before its file is settled there is nothing to pay back from. The chunk
  // is due, so it comes again; asking its servers now would be for nothing.
  if (isLast && job.kind === "file" && job.unsettled > 0) return;

  const { from, to } = message;
  const all = await readChunk(world.blobs, job.input, { from, to });
  if (!all && work === givenUp) return lose(world, job, message, before);
  if (!all) throw new Error("the input of the job is gone");
  const known = new Set(before && (await rowsOf(world.table, before)).map(({ row }) => row));
  const waiting = all.filter(([row]) => !known.has(row));

  const { rows, lost } = await work(world, job, waiting, isLast);
  await keep(world, { job, message, rows, lost, waiting: waiting.length - rows.length });
  await completeIfDone(world, job.id);
};

/** `pass` is how many passes there were before. */
const isDone = (before: Chunk | undefined, pass: number): boolean =>
  before ? before.outcome === "refunded" || before.passes.length !== pass : pass !== 0;

/** Longer than this nobody waits for the slowest of the rows: they have their turn in the next pass. */
const PASS_MS = 12 * 60_000;

const verified: Pass = async (world, job, rows, isLast) => {
  const done = new AbortController();
  const late = world.sleep(PASS_MS, done.signal).then(() => "timeout" as const);
  try {
    const tried = await Promise.all(rows.map((row) => tryRow(world, job, row, late)));
    const settled = tried.flatMap((one) => settledBy(world, job, one, isLast) ?? []);
    return { rows: settled, lost: settled.filter(isLost).length };
  } finally {
    done.abort();
  }
};

type Tried = { readonly row: InputRow; readonly came: Verification | "timeout" | "internal" };

/** One row that breaks is no reason to do the others again. */
const tryRow = async (
  world: World,
  { mode, wants }: Job,
  row: InputRow,
  late: Promise<"timeout">,
): Promise<Tried> => {
  const options = { deepVerify: true, includeAi: true, ...wants, includeEvidence: false };
  const asked = verify(engineFor(world, mode), row[1], options);
  const came = await Promise.race([asked, late]).catch((cause: unknown) => {
    world.log("row_failed", { cause });
    return "internal" as const;
  });
  return { row, came };
};

/** Undefined: it waits for the next pass. */
const settledBy = (
  world: World,
  { mode }: Job,
  { row: [row, email], came }: Tried,
  isLast: boolean,
): Row | undefined => {
  if (typeof came !== "string" && (isLast || came.retry === null)) return { row, result: came };
  if (!isLast || typeof came !== "string") return undefined;
  return { row, result: unprobed(engineFor(world, mode), email, came) };
};

/** We failed at it, for reasons of our own. */
const isLost = ({ result }: Row): boolean => isOurFailure(result);

/** Whatever kept the chunk from being done, again and again, is our trouble: nothing is known of its rows. */
const givenUp: Pass = async (world, job, waiting) => {
  const engine = engineFor(world, job.mode);
  const rows = waiting.map(([row, email]) => ({
    row,
    result: unprobed(engine, email, "internal"),
  }));
  return { rows, lost: rows.filter(isLost).length };
};

/** Even what was to be verified is gone. So much was our trouble that a batch is paid back, too. */
const lose = async (
  world: World,
  job: Job,
  { chunk, pass: number }: ChunkMessage,
  before: Chunk | undefined,
): Promise<void> => {
  const addresses = before?.waiting ?? Math.min(job.chunkRows, job.total - chunk * job.chunkRows);
  const given: Write = before
    ? {
        update: chunkKey(job.id, chunk),
        set: {
          ...NOT_DUE,
          waiting: 0,
          [passField(number)]: world.newId("txn"),
          expires_at: epochSeconds(world.now()) + job.keptSeconds,
        },
        where: { [passField(number)]: { missing: true } },
      }
    : givenBack(job, chunk, world.now());
  const { outcome } = await commit(world, [
    given,
    {
      update: jobKey(job.id),
      add: { refunded: addresses },
      where: { status: { oneOf: OPEN_STATUSES } },
    },
    ...refundOf(world, job, chunk, addresses),
  ]);
  if (outcome === "ambiguous") throw new Error("it is not known whether the chunk is given back");
  await completeIfDone(world, job.id);
};

type Passed = Settled & {
  readonly job: Job;
  readonly message: ChunkMessage;
  readonly waiting: number;
};

/** First the pages, which nobody reads yet; then in one transaction all that makes them count. */
const keep = async (world: World, passed: Passed): Promise<void> => {
  const { job, message, rows } = passed;
  const token = world.newId("txn");
  const place = { job: job.id, chunk: message.chunk, token };
  const expiresAt = epochSeconds(world.now()) + job.keptSeconds;
  for (const page of pageItems(place, rows, expiresAt)) {
    const { outcome } = await world.table.write({ put: page });
    if (outcome === "ambiguous") throw new Error("it is not known whether the results are kept");
  }
  const { outcome } = await commit(world, [
    outcomeOf(world, passed, { token, expiresAt }),
    counted(passed),
    ...paidBack(world, passed),
  ]);
  // Refused: somebody else did this pass, or the chunk was paid back, or the job is over.
  if (outcome === "ambiguous") throw new Error("it is not known whether the chunk is done");
};

type Kept = { readonly token: string; readonly expiresAt: number };

const outcomeOf = (world: World, passed: Passed, { token, expiresAt }: Kept): Write => {
  const { job, message, rows, waiting } = passed;
  const { chunk, from, to } = message;
  const waitMs = COME_AGAIN_AFTER_MS[message.pass] ?? 0;
  const due = waiting > 0 && dueAt(CHUNK, job.id, inMs(world.now(), waitMs), token);
  const rest = due || { ...NOT_DUE, expires_at: expiresAt };
  if (message.pass > 0)
    return {
      update: chunkKey(job.id, chunk),
      add: { rows: rows.length },
      set: { ...rest, [passField(message.pass)]: token, waiting },
      where: { [passField(message.pass)]: { missing: true } },
    };
  const done = {
    job: job.id,
    chunk,
    outcome: "done" as const,
    rows: rows.length,
    waiting,
    from,
    to,
  };
  return { create: { ...chunkItem({ ...done, passes: [token] }), ...rest } };
};

const counted = ({ job, rows, lost }: Passed): Write => {
  const add: Record<string, number> = { processed: rows.length, lost };
  for (const { result } of rows) {
    const bucket = bucketOf(result.status);
    add[bucket] = (add[bucket] ?? 0) + 1;
  }
  return { update: jobKey(job.id), add, where: { status: { oneOf: OPEN_STATUSES } } };
};

/** What a file paid for and we could not do goes back. A batch has no refunds, by contract. */
const paidBack = (world: World, { job, message, lost }: Passed): readonly Write[] =>
  job.kind === "file" ? refundOf(world, job, message.chunk, lost) : [];

const refundOf = (world: World, job: Job, chunk: number, addresses: number): readonly Write[] => {
  const { id, account, createdAt: openedAt, mode, unsettled } = job;
  if (addresses === 0 || mode !== "live") return [];
  // Its price may be held still. Once that is settled, which the reconciler sees to, this has its turn again.
  if (unsettled > 0) throw new Error("the job's dispatch is not settled yet");
  return move({
    account,
    operation: id,
    openedAt,
    // Not the entry of its settling, which a chunk has if it was not known at first whether it was queued.
    step: `lost-${chunk}`,
    at: world.now().toISOString(),
    moved: { refund: (addresses * PRICE.fileAddress) as Halves },
    reason: "given up",
  });
};

export const CHUNK = "chunk";

/** Rows that a mail server put off have their turn now. */
export const repairChunk = async (world: World, item: Item): Promise<string> => {
  const { job, chunk, passes, from, to } = readChunkItem(item);
  await sendChunks(world, [{ job, chunk, pass: passes.length, from, to }]);
  // Somebody may have it in hand for so long; sent again before that, it would be done twice.
  const later = inMs(world.now(), CHUNKS_QUEUE.visibilitySeconds * 1000);
  await world.table.write({
    update: chunkKey(job, chunk),
    set: { due_sk: later.toISOString() },
    where: { token: readDue(item).token },
  });
  return "sent_again";
};
