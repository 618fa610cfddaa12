import * as v from "valibot";
import type { Payer } from "../access/payer.ts";
import { PLANS } from "../accounts/plans.ts";
import { inMs } from "../due.ts";
import { Failure } from "../failure.ts";
import { claimKey, type Keyed } from "../money/claims.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import {
  type Begun,
  begin,
  type Operation,
  operationKey,
  readOperation,
  release,
  settle,
} from "../money/operations.ts";
import type { Sent } from "../queue.ts";
import type { Item, Write } from "../table.ts";
import { within } from "../within.ts";
import type { World } from "../world.ts";
import { findInput, firstMessages, sendChunks } from "./chunk-messages.ts";
import { givenBack } from "./chunks.ts";
import { completeIfDone, endedJob, newsOf } from "./completion.ts";
import { type FileIntake, takeInFile } from "./intake.ts";
import { findJob, type Job, jobKey } from "./items.ts";
import { forgettingInput, inputKeyOf, tooManyFor, writesOfNewJob } from "./new-job.ts";
import { LOOK_AGAIN_MS } from "./repair.ts";
import { findUpload } from "./uploads.ts";

export type FileWish = {
  readonly fileKey: string;
  readonly emailColumn: string | undefined;
  readonly hasHeader: boolean | undefined;
  readonly name: string | null;
  readonly wants: NonNullable<Job["wants"]>;
  readonly callback: NonNullable<Job["callback"]> | null;
};

/** What was counted when the file was read. */
const Counts = v.object({
  totalSubmitted: v.number(),
  duplicatesRemoved: v.number(),
  invalidSkipped: v.number(),
  unique: v.number(),
});

/** What whoever takes the dispatch over has to know. */
const Input = v.object({ ...Counts.entries, chunkRows: v.number() });

export type Counts = Readonly<v.InferOutput<typeof Counts>>;

/** What became of the chunks, in addresses. */
export type Dispatched = { readonly refused: number; readonly unknown: number };

export type FileTold = {
  readonly job: string;
  readonly counts: Counts;
  /** What this very request was charged: a repeat is not. */
  readonly price: Halves;
} & (
  | { readonly how: "accepted" | "replayed"; readonly dispatched: Dispatched }
  /** Somebody else is still at it; `waitMs` from now it is worth another look. */
  | { readonly how: "dispatching" | "settling"; readonly waitMs: number }
);

/** Longer than it takes to send a thousand messages, settle them, and answer. */
const LEASE_MS = 45_000;
/** A file that is not read by then would leave too little time for what comes after the debit. */
const READ_WITHIN_MS = 15_000;
const SETTLE_AGAIN_MS = 5_000;

export const FILE = "file";

/** Reads the uploaded file, holds its price, sends its chunks, and settles what was sent. */
export const acceptFile = async (
  world: World,
  payer: Payer,
  wish: FileWish,
  keyed: Keyed | null,
): Promise<FileTold> => {
  const id = world.newId("job");
  const reason = "POST /v1/verify/file";
  const order = { id, kind: FILE, payer, reason, keyed, leaseMs: LEASE_MS };
  const came = await begin(world, order, async () => {
    const createdAt = world.now();
    const chunkRows = world.settings.chunkRows.file;
    const taken = await takeIn(world, payer, wish, id);
    const { input, chunks, facts, isAscii, unique } = taken;
    const { name, wants, callback } = wish;
    const also = writesOfNewJob(world, {
      id,
      kind: FILE,
      payer,
      reason,
      name,
      wants,
      callback,
      createdAt,
      input,
      chunks,
      unique,
      chunkRows,
      columns: otherColumns(facts),
      emailColumn: emailColumnOf(facts),
      isAscii,
      unsettled: 1,
      claim: keyed && claimKey(keyed),
    });
    const price = (unique * PRICE.fileAddress) as Halves;
    return { price, input: { ...v.parse(Counts, taken), chunkRows }, also };
  }).catch(forgettingInput(world, id));
  const isFirstTry = "begun" in came && came.begun.id === id;
  // Somebody with the same key was faster: what we read is nobody's.
  if (!isFirstTry) await world.blobs.remove(inputKeyOf(id)).catch(() => undefined);
  if (!("begun" in came)) return toldOf(world, came);
  return dispatch(world, came.begun, isFirstTry).catch(brokenAfterDebit(came.begun));
};

/** What is paid for is somebody's business: the reconciler's, or that of whoever comes with the same key. */
const brokenAfterDebit =
  ({ claim }: Operation) =>
  (cause: unknown): never => {
    if (cause instanceof Failure) throw cause;
    const what = "Something broke on our side while the addresses were queued.";
    throw new Failure("INTERNAL", claim ? "retry_same_key" : "unknown", what, { cause });
  };

/** The file's own columns without that of the addresses. */
const otherColumns = ({ columns, emailColumn }: FileIntake["facts"]): readonly string[] =>
  columns.filter((_, at) => at !== emailColumn);

/** A file without a header has a name for none of its columns, and this one we know what to call. */
const emailColumnOf = ({ columns, emailColumn: at, hasHeader }: FileIntake["facts"]) => ({
  name: (hasHeader && columns[at]) || "email",
  at,
});

const takeIn = async (
  world: World,
  payer: Payer,
  { fileKey, emailColumn, hasHeader }: FileWish,
  id: string,
): Promise<FileIntake> => {
  let isLate = false;
  const read = async () => {
    const upload = await findUpload(world, payer, fileKey);
    const source = untilLate(upload.content, () => isLate);
    return takeInFile(world, source, {
      key: inputKeyOf(id),
      addressesMax: PLANS[payer.plan].jobAddressesMax,
      bytesMax: upload.bytes,
      emailColumn,
      hasHeader,
      rowsPerChunk: world.settings.chunkRows.file,
    });
  };
  const taken = await within(world, READ_WITHIN_MS, read());
  isLate = taken === "late";
  if (taken === "late")
    throw new Failure("UNAVAILABLE", "nothing_charged", "The file could not be read in time.");
  if (!("fault" in taken)) return taken;
  if (taken.fault === "too_many") throw tooManyFor(payer.plan);
  const code = taken.fault === "too_large" ? "PAYLOAD_TOO_LARGE" : "INVALID_REQUEST";
  const field = taken.fault === "unknown_column" ? "email_column" : "file_key";
  throw new Failure(code, "nothing_charged", taken.message, {
    details: [{ field, message: taken.message }],
  });
};

/** A file that is not waited for any more is not read to its end either. */
async function* untilLate(
  content: AsyncIterable<Uint8Array>,
  isLate: () => boolean,
): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    if (isLate()) throw new Error("nobody waits for this file any more");
    yield piece;
  }
}

const toldOf = async (
  world: World,
  came: Exclude<Begun, { begun: Operation }>,
): Promise<FileTold> => {
  if ("answered" in came) {
    const answer = came.answered as unknown as Answer;
    const dispatched = await dispatchedNow(world, answer);
    return { ...answer, dispatched, price: NOTHING, how: "replayed" };
  }
  const { id, input } = came.underWay;
  const how = came.underWay.isSent ? "settling" : "dispatching";
  return { job: id, counts: v.parse(Counts, input), price: NOTHING, how, waitMs: came.waitMs };
};

const NOTHING = 0 as Halves;

/** What was in doubt at first is known by now, or will be: a repeat is told how it stands. */
const dispatchedNow = async (world: World, answer: Answer): Promise<Dispatched> => {
  const job = await findJob(world.table, answer.job).catch(() => undefined);
  if (!job) return answer.dispatched;
  const { unresolved, total, chunkRows, refunded } = job;
  return { refused: refunded, unknown: addressesIn(unresolved, total, chunkRows) };
};

const addressesIn = (chunks: readonly number[], total: number, chunkRows: number): number =>
  chunks.reduce((sum, chunk) => sum + Math.min(chunkRows, total - chunk * chunkRows), 0);

/** What a claim remembers. */
type Answer = {
  readonly job: string;
  readonly counts: Counts;
  readonly price: Halves;
  readonly dispatched: Dispatched;
};

/**
 * Sends every chunk, and settles by what the queue said of each. Whoever takes it over sends all of them again; a
 * refusal means nothing then, for an earlier try may have got through.
 */
const dispatch = async (
  world: World,
  operation: Operation,
  isFirstTry: boolean,
): Promise<FileTold> => {
  const { id, amount, input } = operation;
  const { chunkRows, ...counts } = v.parse(Input, input);
  const messages = firstMessages(id, await findInput(world.table, id));
  const came = await sendChunks(world, messages);
  const sent = isFirstTry ? came : came.map((one) => (one === "refused" ? "unknown" : one));
  if (sent.every((one) => one === "refused")) return giveBack(world, operation);

  await noteSent(world, operation);
  const settlement = settlementOf(sent, counts.unique, chunkRows);
  const dispatched = {
    refused: settlement.refused.addresses,
    unknown: settlement.unknown.addresses,
  };
  const answer: Answer = { job: id, counts, price: amount, dispatched };
  const ended = await settleSent(world, operation, { ...settlement, answer });
  if (ended !== "ended")
    return { job: id, counts, price: amount, how: "settling", waitMs: SETTLE_AGAIN_MS };
  await completeIfDone(world, id).catch(() => false);
  return { ...answer, how: "accepted" };
};

/** For those who ask meanwhile: what is left to do is not sending any more. Only a hint, so nobody waits for it. */
const noteSent = async (world: World, { id, token }: Operation): Promise<void> => {
  await world.table
    .write({
      update: operationKey(id),
      set: { isSent: true },
      where: { token },
    })
    .catch(() => undefined);
};

type Some = { readonly chunks: readonly number[]; readonly addresses: number };
type Settlement = { readonly refused: Some; readonly unknown: Some };

/** One transaction holds a hundred writes; what is refused beyond that is resolved like what is unknown. */
const GIVEN_BACK_AT_ONCE = 80;

const settlementOf = (sent: readonly Sent[], total: number, chunkRows: number): Settlement => {
  const those = (chunks: readonly number[]): Some => ({
    chunks,
    addresses: addressesIn(chunks, total, chunkRows),
  });
  const which = (outcome: Sent) => [...sent.keys()].filter((chunk) => sent[chunk] === outcome);
  const refused = which("refused");
  return {
    refused: those(refused.slice(0, GIVEN_BACK_AT_ONCE)),
    unknown: those(
      [...which("unknown"), ...refused.slice(GIVEN_BACK_AT_ONCE)].toSorted((a, b) => a - b),
    ),
  };
};

const settleSent = (
  world: World,
  operation: Operation,
  { refused, unknown, answer }: Settlement & { readonly answer: Answer },
) => {
  const { id, mode } = operation;
  const price = (addresses: number) => (addresses * PRICE.fileAddress) as Halves;
  const kept = price(answer.counts.unique - refused.addresses - unknown.addresses);
  const isOpen = unknown.chunks.length > 0;
  const job: Write = {
    update: jobKey(id),
    set: {
      unsettled: unknown.chunks.length,
      unresolved: unknown.chunks,
      held: mode === "live" ? price(unknown.addresses) : 0,
      refunded: refused.addresses,
      ...(isOpen && { status: "enqueue_unknown" }),
      ...(!isOpen && { due_sk: lookAgainAt(world) }),
    },
    where: { unsettled: 1 },
  };
  return settle(world, operation, {
    answer,
    moved: { settle: kept, release: price(refused.addresses) },
    also: [job, ...refused.chunks.map((chunk) => givenBack({ id }, chunk, world.now()))],
  });
};

const lookAgainAt = (world: World): string => inMs(world.now(), LOOK_AGAIN_MS).toISOString();

/** Not one chunk was queued, and surely not: there is no job, and never was one. */
const giveBack = async (world: World, operation: Operation): Promise<never> => {
  const { id, mode, claim } = operation;
  const job = await findJob(world.table, id);
  const what = "None of the addresses could be queued.";
  const error = `${what} ${mode === "live" ? "The charge was refunded." : "Nothing was charged."}`;
  const also = job
    ? [neverBegun(endedJob(world, job, "failed", error)), newsOf(world, job, "failed", error)]
    : [];
  const ended = await release(world, operation, also);
  if (ended === "ended")
    throw new Failure("INTERNAL", mode === "live" ? "refunded" : "nothing_charged", what);
  throw new Failure("INTERNAL", claim ? "retry_same_key" : "unknown", what);
};

/** Whoever had it before us may have queued what we could not, and what is verified is not given back. */
const neverBegun = (ended: ReturnType<typeof endedJob>): Write => ({
  ...ended,
  where: { ...ended.where, processed: 0 },
});

/** Whoever accepted the file is gone: its chunks are sent again, all of them, and settled. */
export const repairFile = async (world: World, item: Item): Promise<string> => {
  const told = await dispatch(world, readOperation(item), false);
  return told.how === "accepted" ? "dispatched" : "left_to_others";
};
