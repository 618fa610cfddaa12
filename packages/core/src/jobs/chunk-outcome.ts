import { commit } from "../commit.ts";
import { dueAt, NOT_DUE } from "../due.ts";
import { epochSeconds, inMs } from "../moments.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import { move } from "../money/ledger.ts";
import type { Write } from "../table.ts";
import { isNotAsked, isOurFailure } from "../verify/result.ts";
import type { World } from "../world.ts";
import { type ChunkMessage, sendChunks } from "./chunk-messages.ts";
import { type Chunk, chunkItem, chunkKey, givenBack, passField } from "./chunks.ts";
import {
  changeOfDeferred,
  deferredItem,
  deferredKey,
  firstTimeOf,
  type Group,
  splitDue,
  TEST_KEY_RETRY_SECONDS,
} from "./deferrals.ts";
import { bucketOf, type Job, jobKey, OPEN_STATUSES } from "./items.ts";
import { pageItems, type Row } from "./results.ts";

// What a pass over a chunk came to, written so that all of it counts or nothing.

export const CHUNK = "chunk";

export type Passed = {
  readonly job: Job;
  readonly message: ChunkMessage;
  /** The rows that have their result by this pass. */
  readonly rows: readonly Row[];
  /** The rows that were deferred before it, and those that are after it. */
  readonly before: readonly Group[];
  readonly after: readonly Group[];
};

/** First the pages, which nobody reads yet; then in one transaction all that makes them count. */
export const writeOutcome = async (world: World, passed: Passed): Promise<void> => {
  const { job, message, rows, after } = passed;
  const token = world.newId("txn");
  const place = { job: job.id, chunk: message.chunk, token };
  const expiresAt = epochSeconds(world.now()) + job.keptSeconds;
  for (const page of pageItems(place, rows, expiresAt)) {
    const { outcome } = await world.table.write({ put: page });
    if (outcome === "ambiguous") throw new Error("it is not known whether the results are kept");
  }
  const { outcome } = await commit(world, [
    outcomeOf(passed, { token, expiresAt }),
    counted(passed),
    ...deferring(passed),
    ...paidBack(world, passed),
  ]);
  // Refused: somebody else did this pass, or the chunk was paid back, or the job is over.
  if (outcome === "ambiguous") throw new Error("it is not known whether the chunk is done");
  if (outcome !== "committed") return;
  if (after.some(({ isSlow }) => isSlow)) await sendNext(world, passed, 0);
  else if (job.mode === "test" && after.length > 0)
    await sendNext(world, passed, TEST_KEY_RETRY_SECONDS);
};

/** The next pass over slow rows, or of a test key's job. If the message is lost, the reconciler finds the chunk due. */
const sendNext = async (
  world: World,
  { job, message, after }: Passed,
  delaySeconds: number,
): Promise<void> => {
  const next = { ...message, pass: message.pass + 1 };
  const due = splitDue(after).due;
  await sendChunks(world, job, [next], { delaySeconds, rows: waitingIn(due) });
};

/** The message of slow rows is on its way, and by then they have ended at nearly every server. */
const SLOW_DUE_MS = 180_000;

const dueTimeOf = (after: readonly Group[], retryAt: string): Date =>
  after.some(({ isSlow }) => isSlow) ? inMs(new Date(retryAt), SLOW_DUE_MS) : new Date(retryAt);

type Kept = { readonly token: string; readonly expiresAt: number };

const waitingIn = (groups: readonly Group[]): number =>
  groups.reduce((sum, { rows }) => sum + rows.length, 0);

const outcomeOf = ({ job, message, rows, after }: Passed, { token, expiresAt }: Kept): Write => {
  const { chunk, from, to, checksum } = message;
  const retryAt = firstTimeOf(after);
  const waiting = waitingIn(after);
  // By job and chunk: the reconciler takes so many of a partition at a time, and a great job has a thousand chunks.
  const id = `${job.id}#${chunk}`;
  const rest = retryAt
    ? { ...dueAt(CHUNK, id, dueTimeOf(after, retryAt), token), retryAt }
    : { ...NOT_DUE, retryAt: undefined, expires_at: expiresAt };
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
    ...(checksum !== undefined && { checksum }),
  };
  return { create: { ...chunkItem({ ...done, passes: [token] }), ...rest } };
};

const counted = ({ job, rows, before, after }: Passed): Write => {
  const add: Record<string, number> = {
    processed: rows.length,
    lost: lostIn(rows),
    unasked: rows.filter(({ result }) => isNotAsked(result)).length,
    ...changeOfDeferred(before, after),
  };
  for (const { result } of rows) {
    const bucket = bucketOf(result.status);
    add[bucket] = (add[bucket] ?? 0) + 1;
  }
  return { update: jobKey(job.id), add, where: { status: { oneOf: OPEN_STATUSES } } };
};

/** The rows that wait from now on, in the place of those that waited before. */
const deferring = ({ job, message, before, after }: Passed): readonly Write[] => {
  const place = { job: job.id, chunk: message.chunk };
  const [was, is] = [firstTimeOf(before), firstTimeOf(after)];
  // One write to an item: where the time is the same, the new item takes the place of the old one.
  return [
    ...(was && was !== is ? [{ remove: deferredKey(place, was) }] : []),
    ...(is ? [{ put: deferredItem(place, is, after) }] : []),
  ];
};

/** What a file paid for and we could not do goes back. A batch has no refunds, by contract. */
const paidBack = (world: World, { job, message, rows }: Passed): readonly Write[] =>
  job.kind === "file" ? refundOf(world, job, message, lostIn(rows)) : [];

const lostIn = (rows: readonly Row[]): number =>
  rows.filter(({ result }) => isOurFailure(result)).length;

type Lost = Pick<Passed, "job" | "message" | "before"> & { readonly chunk: Chunk | undefined };

/** Even what was to be verified is gone. So much was our trouble that a batch is paid back, too. */
export const loseChunk = async (world: World, lost: Lost): Promise<void> => {
  const { job, message, chunk: known, before } = lost;
  const { chunk, pass: number } = message;
  const addresses = known?.waiting ?? Math.min(job.chunkRows, job.total - chunk * job.chunkRows);
  const given: Write = known
    ? {
        update: chunkKey(job.id, chunk),
        set: {
          ...NOT_DUE,
          waiting: 0,
          retryAt: undefined,
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
      add: { refunded: addresses, ...changeOfDeferred(before, []) },
      where: { status: { oneOf: OPEN_STATUSES } },
    },
    ...deferring({ job, message, rows: [], before, after: [] }),
    ...refundOf(world, job, message, addresses),
  ]);
  if (outcome === "ambiguous") throw new Error("it is not known whether the chunk is given back");
};

const refundOf = (
  world: World,
  job: Job,
  { chunk, pass }: ChunkMessage,
  addresses: number,
): readonly Write[] => {
  const { id, account, createdAt: openedAt, mode, unsettled } = job;
  if (addresses === 0 || mode !== "live") return [];
  // Its price may be held still. Once that is settled, which the reconciler sees to, this has its turn again.
  if (unsettled > 0) throw new Error("the job's dispatch is not settled yet");
  return move({
    account,
    operation: id,
    openedAt,
    // Not the entry of its settling, which a chunk has if it was not known at first whether it was queued. Each pass
    // has its own: rows of a chunk may be lost in several.
    step: `lost-${chunk}-${pass}`,
    at: world.now().toISOString(),
    moved: { refund: (addresses * PRICE.fileAddress) as Halves },
    reason: "given up",
  });
};
