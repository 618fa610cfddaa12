import * as v from "valibot";
import type { Payer } from "../access/payer.ts";
import { type AccountSlots, accountSlots } from "../account-slots.ts";
import { PLANS } from "../accounts/plans.ts";
import { UnreadableBlobError } from "../blobs.ts";
import { Failure } from "../failure.ts";
import { claimKey, type Keyed } from "../money/claims.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import { type Begun, begin, type Operation } from "../money/operations.ts";
import { within } from "../within.ts";
import type { World } from "../world.ts";
import { type Answer, Counts, dispatch, dispatchedNow, type FileTold } from "./dispatch.ts";
import { type FileIntake, takeInFile } from "./intake.ts";
import type { Job } from "./items.ts";
import { summarizeList } from "./list-summary.ts";
import { forgettingInput, inputKeyOf, removeInput, tooManyFor, writesOfNewJob } from "./new-job.ts";
import { fileNameOf, findUpload, unreadableUpload } from "./uploads.ts";

export type FileWish = {
  readonly fileKey: string;
  readonly emailColumn: string | undefined;
  readonly hasHeader: boolean | undefined;
  /** What the caller called the file, to be told what is wrong with it. */
  readonly field: "file" | "file_key";
  /** What the job is called. Null: as the file is. */
  readonly name: string | null;
  readonly wants: NonNullable<Job["wants"]>;
  readonly callback: NonNullable<Job["callback"]> | null;
};

/** Longer than it takes to send a thousand messages, settle them, and answer. */
const LEASE_MS = 45_000;
/** What a dispatch is expected to take: its transactions, and the messages, of which SQS takes about 500 a second. */
const DISPATCH_MS = 500;
const DISPATCH_CHUNK_MS = 2;
/** A file that is not read by then would leave too little time for what comes after the debit. */
const READ_WITHIN_MS = 15_000;
/**
 * Reading the largest file takes 2.5 seconds of the one thread, so four at once are read in time. One account has two of
 * these slots at the most. On AWS each request has a process of its own.
 */
const READ_AT_ONCE = 4;
const slotsOfProcess = new WeakMap<World["blobs"], AccountSlots>();

const readSlots = ({ blobs }: World): AccountSlots => {
  const slots = slotsOfProcess.get(blobs) ?? accountSlots(READ_AT_ONCE);
  slotsOfProcess.set(blobs, slots);
  return slots;
};

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
    const { fileKey, name, wants, callback } = wish;
    const also = writesOfNewJob(world, {
      id,
      kind: FILE,
      payer,
      reason,
      name: name ?? jobNameFor(fileKey),
      wants,
      callback,
      createdAt,
      input,
      chunks,
      checksums: taken.checksums,
      unique,
      chunkRows,
      columns: otherColumns(facts),
      emailColumn: emailColumnOf(facts),
      isAscii,
      delimiter: facts.delimiter,
      hasEmailCells: true,
      excluded: taken.excluded,
      unsettled: 1,
      claim: keyed && claimKey(keyed),
    });
    const price = (unique * PRICE.fileAddress) as Halves;
    const expectedMs = DISPATCH_MS + chunks.length * DISPATCH_CHUNK_MS;
    const counts = v.parse(Counts, { ...taken, list: summarizeList(taken) });
    return { price, input: { ...counts, chunkRows }, expectedMs, also };
  }).catch(forgettingInput(world, id));
  const isFirstTry = "begun" in came && came.begun.id === id;
  // Somebody with the same key was faster: what we read is nobody's.
  if (!isFirstTry) await removeInput(world, id);
  if (!("begun" in came)) return toldOf(world, came);
  return dispatch(world, came.begun, isFirstTry).catch(brokenAfterDebit(came.begun));
};

const CONTROLS = /\p{Cc}+/gu;

const jobNameFor = (fileKey: string): string | null =>
  fileNameOf(fileKey)?.replaceAll(CONTROLS, " ").trim() || null;

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
  { fileKey, emailColumn, hasHeader, field: called }: FileWish,
  id: string,
): Promise<FileIntake> => {
  let isLate = false;
  let unreadable: Failure | undefined;
  const read = async () => {
    if (isLate) throw new Error("nobody waits for this file any more");
    const upload = await findUpload(world, payer, fileKey);
    const content = orFailure(upload.content, (failure) => {
      unreadable = failure;
    });
    const source = untilLate(content, () => isLate);
    return takeInFile(world, source, {
      key: inputKeyOf(id),
      addressesMax: PLANS[payer.plan].jobAddressesMax,
      bytesMax: upload.bytes,
      emailColumn,
      hasHeader,
      rowsPerChunk: world.settings.chunkRows.file,
    });
  };
  const taken = await within(
    world,
    READ_WITHIN_MS,
    readSlots(world).run(payer.account, read),
  ).catch((error: unknown) => {
    // The store that the rows are written to may have made an error of its own of it.
    throw unreadable ?? error;
  });
  isLate = taken === "late";
  if (taken === "late")
    throw new Failure("UNAVAILABLE", "nothing_charged", "The file could not be read in time.");
  if (!("fault" in taken)) return taken;
  if (taken.fault === "too_many") throw tooManyFor(payer.plan);
  const code = taken.fault === "too_large" ? "PAYLOAD_TOO_LARGE" : "INVALID_REQUEST";
  const field = taken.fault === "unknown_column" ? "email_column" : called;
  throw new Failure(code, "nothing_charged", taken.message, {
    details: [{ field, message: taken.message }],
  });
};

async function* orFailure(
  content: AsyncIterable<Uint8Array>,
  note: (failure: Failure) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    if (!(error instanceof UnreadableBlobError)) throw error;
    const failure = unreadableUpload(error);
    note(failure);
    throw failure;
  }
}

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
  return {
    job: id,
    counts: v.parse(Counts, input),
    price: NOTHING,
    how,
    waitMs: came.retryAfterMs,
  };
};

const NOTHING = 0 as Halves;
