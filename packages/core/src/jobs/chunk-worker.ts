import { commit } from "../commit.ts";
import { dueAt, inMs, NOT_DUE } from "../due.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import { move } from "../money/ledger.ts";
import type { Item, Write } from "../table.ts";
import type { Engine } from "../verify/engine.ts";
import { engineFor } from "../verify/engine.ts";
import { unprobed, verify } from "../verify/verify.ts";
import type { Worker } from "../worker.ts";
import type { World } from "../world.ts";
import { CHUNKS_QUEUE, type ChunkMessage, readChunkMessage, sendChunks } from "./chunk-messages.ts";
import { type Chunk, chunkItem, chunkKey, findChunk, passField, readChunkItem } from "./chunks.ts";
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

/** What a pass comes to: the rows that are settled by it; the others wait for the next. */
type Pass = (
  world: World,
  job: Job,
  rows: readonly InputRow[],
  isLast: boolean,
) => Promise<readonly Row[]>;

const pass = async (world: World, message: ChunkMessage, work: Pass): Promise<void> => {
  const job = await findJob(world.table, message.job);
  if (!job?.input || !isOpen(job)) return;
  const before = await findChunk(world.table, job.id, message.chunk);
  if (isDone(before, message.pass)) return void (await completeIfDone(world, job.id));

  const { from, to } = message;
  const all = await readChunk(world.blobs, job.input, { from, to });
  if (!all) throw new Error("the input of the job is gone");
  const known = new Set(before && (await rowsOf(world.table, before)).map(({ row }) => row));
  const waiting = all.filter(([row]) => !known.has(row));

  const isLost = work === givenUp;
  const isLast = isLost || message.pass >= COME_AGAIN_AFTER_MS.length;
  const settled = await work(world, job, waiting, isLast);
  await keep(world, { job, message, settled, waiting: waiting.length - settled.length, isLost });
  await completeIfDone(world, job.id);
};

/** `pass` is how many passes there were before. */
const isDone = (before: Chunk | undefined, pass: number): boolean =>
  before ? before.outcome === "refunded" || before.passes.length !== pass : pass !== 0;

/** Longer than this nobody waits for the slowest of the rows: they have their turn in the next pass. */
const PASS_MS = 12 * 60_000;

const verified: Pass = async (world, job, rows, isLast) => {
  const engine = engineFor(world, job.mode);
  const done = new AbortController();
  const late = world.sleep(PASS_MS, done.signal).then(() => "late" as const);
  try {
    const found = await Promise.all(
      rows.map((row) => verifyRow(engine, job, row, { late, isLast })),
    );
    return found.filter((row) => row !== null);
  } finally {
    done.abort();
  }
};

type Patience = { readonly late: Promise<"late">; readonly isLast: boolean };

/** Null: its server wants us to come again. */
const verifyRow = async (
  engine: Engine,
  { wants }: Job,
  [row, email]: InputRow,
  { late, isLast }: Patience,
): Promise<Row | null> => {
  const options = { deepVerify: true, includeAi: true, ...wants, includeEvidence: false };
  const result = await Promise.race([verify(engine, email, options), late]);
  if (result !== "late" && (isLast || result.retry === null)) return { row, result };
  return isLast ? { row, result: unprobed(engine, email, "timeout") } : null;
};

/** Whatever kept the chunk from being done, again and again, is our trouble: nothing is known of its rows. */
const givenUp: Pass = async (world, job, rows) => {
  const engine = engineFor(world, job.mode);
  return rows.map(([row, email]) => ({ row, result: unprobed(engine, email, "internal") }));
};

type Passed = {
  readonly job: Job;
  readonly message: ChunkMessage;
  readonly settled: readonly Row[];
  readonly waiting: number;
  readonly isLost: boolean;
};

/** First the pages, which nobody reads yet; then in one transaction all that makes them count. */
const keep = async (world: World, passed: Passed): Promise<void> => {
  const { job, message, settled } = passed;
  const token = world.newId("txn");
  const place = { job: job.id, chunk: message.chunk, token };
  const expiresAt = Math.floor(world.now().getTime() / 1000) + job.keptSeconds;
  for (const page of pageItems(place, settled, expiresAt)) {
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
  const { job, message, settled, waiting } = passed;
  const { chunk, from, to } = message;
  const waitMs = COME_AGAIN_AFTER_MS[message.pass] ?? 0;
  const due = waiting > 0 && dueAt(CHUNK, job.id, inMs(world.now(), waitMs), token);
  const rest = due || { ...NOT_DUE, expires_at: expiresAt };
  if (message.pass > 0)
    return {
      update: chunkKey(job.id, chunk),
      add: { rows: settled.length },
      set: { ...rest, [passField(message.pass)]: token, waiting },
      where: { [passField(message.pass)]: { missing: true } },
    };
  const done = {
    job: job.id,
    chunk,
    outcome: "done" as const,
    rows: settled.length,
    waiting,
    from,
    to,
  };
  return { create: { ...chunkItem({ ...done, passes: [token] }), ...rest } };
};

const counted = ({ job, settled, isLost }: Passed): Write => {
  const add: Record<string, number> = { processed: settled.length };
  for (const { result } of settled)
    add[bucketOf(result.status)] = (add[bucketOf(result.status)] ?? 0) + 1;
  if (isLost) add["lost"] = settled.length;
  return { update: jobKey(job.id), add, where: { status: { oneOf: OPEN_STATUSES } } };
};

/** What a file paid for and we could not do goes back. A batch has no refunds, by contract. */
const paidBack = (world: World, { job, message, settled, isLost }: Passed): readonly Write[] => {
  const { id, account, createdAt: openedAt, kind, mode, unresolved } = job;
  const isOurs =
    isLost && kind === "file" && mode === "live" && !unresolved.includes(message.chunk);
  if (!isOurs || settled.length === 0) return [];
  return move({
    account,
    operation: id,
    openedAt,
    step: `chunk-${message.chunk}`,
    at: world.now().toISOString(),
    moved: { refund: (settled.length * PRICE.fileAddress) as Halves },
    reason: "given up",
  });
};

export const CHUNK = "chunk";

/** Rows that a mail server put off have their turn now. */
export const repairChunk = async (world: World, item: Item): Promise<string> => {
  const { job, chunk, passes, from, to } = readChunkItem(item);
  await sendChunks(world, [{ job, chunk, pass: passes.length, from, to }]);
  return "sent_again";
};
