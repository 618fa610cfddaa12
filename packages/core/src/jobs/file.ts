import * as v from "valibot";
import type { Payer } from "../accounts/payer.ts";
import { PLANS } from "../accounts/plans.ts";
import { type FileIntake, ingestFile } from "../intake/ingest.ts";
import { summarizeList } from "../intake/list-summary.ts";
import { createUnreadableFailure, findFileName, findUpload } from "../intake/uploads.ts";
import { Failure } from "../lib/failure.ts";
import { withTimeout } from "../lib/timeout.ts";
import { type IdempotencyKey, toClaimKey } from "../money/claims.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import { type BeginResult, beginOperation, type Operation } from "../money/operations.ts";
import { REASONS } from "../money/reasons.ts";
import { UnreadableBlobError } from "../ports/blobs.ts";
import type { World } from "../ports/world.ts";
import { type AccountSlots, createAccountSlots } from "../runtime/account-slots.ts";
import {
  dispatchFile,
  type FileAnswer,
  FileCounts,
  type FileResult,
  findDispatchedNow,
} from "./dispatch.ts";
import type { Job } from "./items.ts";
import {
  buildNewJobWrites,
  createTooManyFailure,
  removeInput,
  removeInputUnlessCharged,
  toInputBlobKey,
} from "./new-job.ts";

export type FileRequest = {
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
const READ_TIMEOUT_MS = 15_000;
/**
 * Reading the largest file takes 2.5 seconds of the one thread, so four at once are read in time. One account has two of
 * these slots at the most. On AWS each request has a process of its own.
 */
const READ_CONCURRENCY = 4;
const slotsByStore = new WeakMap<World["blobs"], AccountSlots>();

const getReadSlots = ({ blobs }: World): AccountSlots => {
  const slots = slotsByStore.get(blobs) ?? createAccountSlots(READ_CONCURRENCY);
  slotsByStore.set(blobs, slots);
  return slots;
};

export const FILE = "file";

/** Reads the uploaded file, holds its price, sends its chunks, and settles what was sent. */
export const acceptFile = async (
  world: World,
  payer: Payer,
  request: FileRequest,
  idempotencyKey: IdempotencyKey | null,
): Promise<FileResult> => {
  const id = world.newId("job");
  const reason = REASONS.file;
  const operation = { id, kind: FILE, payer, reason, idempotencyKey, leaseMs: LEASE_MS };
  const outcome = await beginOperation(world, operation, async () => {
    const createdAt = world.now();
    const chunkRows = world.settings.chunkRows.file;
    const intake = await readList(world, payer, request, id);
    const { input, chunks, facts, isAscii, unique } = intake;
    const { fileKey, name, wants, callback } = request;
    const writes = buildNewJobWrites(world, {
      id,
      kind: FILE,
      payer,
      reason,
      name: name ?? toJobName(fileKey),
      wants,
      callback,
      createdAt,
      input,
      chunks,
      checksums: intake.checksums,
      unique,
      chunkRows,
      columns: listOtherColumns(facts),
      emailColumn: toEmailColumn(facts),
      isAscii,
      delimiter: facts.delimiter,
      hasEmailCells: true,
      excluded: intake.excluded,
      unsettled: 1,
      claim: idempotencyKey && toClaimKey(idempotencyKey),
    });
    const price = (unique * PRICE.fileAddress) as Halves;
    const expectedMs = DISPATCH_MS + chunks.length * DISPATCH_CHUNK_MS;
    const counts = v.parse(FileCounts, { ...intake, list: summarizeList(intake) });
    return { price, input: { ...counts, chunkRows }, expectedMs, writes };
  }).catch(removeInputUnlessCharged(world, id));
  const isFirstTry = "begun" in outcome && outcome.begun.id === id;
  // Somebody with the same key was faster: what we read is nobody's.
  if (!isFirstTry) await removeInput(world, id);
  if (!("begun" in outcome)) return toFileResult(world, outcome);
  return dispatchFile(world, outcome.begun, isFirstTry).catch(rethrowAfterDebit(outcome.begun));
};

const CONTROL_CHARACTERS = /\p{Cc}+/gu;

const toJobName = (fileKey: string): string | null =>
  findFileName(fileKey)?.replaceAll(CONTROL_CHARACTERS, " ").trim() || null;

/** What is paid for is somebody's business: the reconciler's, or that of whoever comes with the same key. */
const rethrowAfterDebit =
  ({ claim }: Operation) =>
  (cause: unknown): never => {
    if (cause instanceof Failure) throw cause;
    const message = "Something broke on our side while the addresses were queued.";
    throw new Failure("INTERNAL", claim ? "retry_same_key" : "unknown", message, { cause });
  };

/** The file's own columns without that of the addresses. */
const listOtherColumns = ({ columns, emailColumn }: FileIntake["facts"]): readonly string[] =>
  columns.filter((_, at) => at !== emailColumn);

/** A file without a header has a name for none of its columns, and this one we know what to call. */
const toEmailColumn = ({ columns, emailColumn: at, hasHeader }: FileIntake["facts"]) => ({
  name: (hasHeader && columns[at]) || "email",
  at,
});

const readList = async (
  world: World,
  payer: Payer,
  { fileKey, emailColumn, hasHeader, field: requestField }: FileRequest,
  id: string,
): Promise<FileIntake> => {
  let isLate = false;
  let unreadable: Failure | undefined;
  const read = async () => {
    if (isLate) throw new Error("nobody waits for this file any more");
    const upload = await findUpload(world, payer, fileKey);
    const content = toFailures(upload.content, (failure) => {
      unreadable = failure;
    });
    const source = stopWhenLate(content, () => isLate);
    return ingestFile(world, source, {
      key: toInputBlobKey(id),
      addressesMax: PLANS[payer.plan].jobAddressesMax,
      bytesMax: upload.bytes,
      emailColumn,
      hasHeader,
      rowsPerChunk: world.settings.chunkRows.file,
    });
  };
  const intake = await withTimeout(
    world,
    READ_TIMEOUT_MS,
    getReadSlots(world).run(payer.account, read),
  ).catch((error: unknown) => {
    // The store that the rows are written to may have made an error of its own of it.
    throw unreadable ?? error;
  });
  isLate = intake === "late";
  if (intake === "late")
    throw new Failure("UNAVAILABLE", "nothing_charged", "The file could not be read in time.");
  if (!("fault" in intake)) return intake;
  if (intake.fault === "too_many") throw createTooManyFailure(payer.plan);
  const code = intake.fault === "too_large" ? "PAYLOAD_TOO_LARGE" : "INVALID_REQUEST";
  const field = intake.fault === "unknown_column" ? "email_column" : requestField;
  throw new Failure(code, "nothing_charged", intake.message, {
    details: [{ field, message: intake.message }],
  });
};

async function* toFailures(
  content: AsyncIterable<Uint8Array>,
  onFailure: (failure: Failure) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    if (!(error instanceof UnreadableBlobError)) throw error;
    const failure = createUnreadableFailure(error);
    onFailure(failure);
    throw failure;
  }
}

/** A file that is not waited for any more is not read to its end either. */
async function* stopWhenLate(
  content: AsyncIterable<Uint8Array>,
  isLate: () => boolean,
): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    if (isLate()) throw new Error("nobody waits for this file any more");
    yield piece;
  }
}

const toFileResult = async (
  world: World,
  outcome: Exclude<BeginResult, { begun: Operation }>,
): Promise<FileResult> => {
  if ("answered" in outcome) {
    const answer = outcome.answered as unknown as FileAnswer;
    const dispatched = await findDispatchedNow(world, answer);
    return { ...answer, dispatched, price: NO_CHARGE, how: "replayed" };
  }
  const { id, input } = outcome.underWay;
  const how = outcome.underWay.isSent ? "settling" : "dispatching";
  return {
    job: id,
    counts: v.parse(FileCounts, input),
    price: NO_CHARGE,
    how,
    waitMs: outcome.retryAfterMs,
  };
};

const NO_CHARGE = 0 as Halves;
