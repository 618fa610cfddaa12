import * as v from "valibot";
import { type FileIntake, type FileIntakeOptions, ingestFile } from "../intake/ingest.ts";
import { summarizeList } from "../intake/list-summary.ts";
import { createUnreadableFailure, findUpload, getFileName } from "../intake/uploads.ts";
import { Failure } from "../lib/failure.ts";
import { withTimeout } from "../lib/timeout.ts";
import { type BeginResult, beginOperation } from "../money/begin-operation.ts";
import type { Halves } from "../money/credits.ts";
import { type IdempotencyKey, toClaimKey } from "../money/idempotency-claims.ts";
import { type Operation } from "../money/operation-items.ts";
import type { Payer } from "../money/payer.ts";
import { PLANS } from "../money/plans.ts";
import { PRICES } from "../money/prices.ts";
import { findRemainingCredits } from "../money/remaining-credits.ts";
import { UnreadableBlobError } from "../ports/blobs.ts";
import type { World } from "../ports/world.ts";
import type { EmailColumn } from "../rows/input-metadata.ts";
import type { Job } from "../rows/items.ts";
import { type AccountSlots, createAccountSlots } from "../runtime/account-slots.ts";
import {
  dispatchFile,
  FILE,
  type FileAnswer,
  FileCounts,
  type FileResult,
  findDispatchedNow,
} from "./dispatch.ts";
import {
  buildNewJobWrites,
  createTooManyFailure,
  recordDraft,
  removeInput,
  removeInputUnlessCharged,
  toInputBlobKey,
} from "./new-job.ts";

export type FileRequest = {
  readonly fileKey: string;
  readonly emailColumns: readonly string[] | undefined;
  readonly hasHeader: boolean | undefined;
  readonly skipSettled: boolean | undefined;
  /** The request's fields for the file and its columns, named in error details. */
  readonly field: "file" | "file_key";
  readonly columnField: "email_column" | "email_columns";
  /** The job's name. Null means the file's name. */
  readonly name: string | null;
  readonly options: NonNullable<Job["options"]>;
  readonly callback: NonNullable<Job["callback"]> | null;
};

/** Longer than sending a thousand messages, settling them and responding takes. */
const LEASE_MS = 45_000;
/** The expected time of a dispatch: its transactions, and its messages, of which SQS takes about 500 a second. */
const DISPATCH_MS = 500;
const DISPATCH_CHUNK_MS = 2;
/** A file that takes longer to read would leave too little time for the steps after the debit. */
const READ_TIMEOUT_MS = 15_000;
/**
 * The largest file takes the thread 2.5 seconds, so four at once are read in time. One account gets two of these slots
 * at most. On AWS each request has its own process.
 */
const READ_CONCURRENCY = 4;
const slotsByStore = new WeakMap<World["blobs"], AccountSlots>();

const getReadSlots = ({ blobs }: World): AccountSlots => {
  const slots =
    slotsByStore.get(blobs) ??
    createAccountSlots({ inAll: READ_CONCURRENCY, perShare: READ_CONCURRENCY });
  slotsByStore.set(blobs, slots);
  return slots;
};

/** Reads the uploaded file, holds its price, sends its chunks, and settles the sent chunks. */
export const acceptFile = async (
  world: World,
  payer: Payer,
  request: FileRequest,
  idempotencyKey: IdempotencyKey | null,
): Promise<FileResult> => {
  const id = world.newId("job");
  const reason = "verify_file";
  const operation = {
    id,
    kind: FILE,
    payer,
    reason,
    idempotencyKey,
    leaseMs: LEASE_MS,
    statesRemaining: true,
  } as const;
  const outcome = await beginOperation(world, operation, async () => {
    const createdAt = world.now();
    const chunkRows = world.settings.chunkRows.file;
    const withdrawDraft = await recordDraft(world, payer, id);
    const intake = await readList(world, payer, request, { key: toInputBlobKey(id) });
    const { chunks, unique } = intake;
    const writes = (shard: number, countedIn: Job["countedIn"]) => [
      ...buildNewJobWrites(world, {
        id,
        kind: FILE,
        payer,
        reason,
        createdAt,
        chunkRows,
        unsettled: 1,
        ...toListFields(request, intake, idempotencyKey),
        shard,
        countedIn,
      }),
      withdrawDraft,
    ];
    const price = (unique * PRICES.fileAddress) as Halves;
    const expectedMs = DISPATCH_MS + chunks.length * DISPATCH_CHUNK_MS;
    const counts = toFileCounts(intake);
    return { price, input: { ...counts, chunkRows }, expectedMs, writes };
  }).catch(removeInputUnlessCharged(world, id));
  const isFirstTry = outcome.kind === "started" && outcome.operation.id === id;
  // A concurrent request with the same key was faster, so nothing needs the input of this request.
  if (!isFirstTry) await removeInput(world, id);
  if (outcome.kind !== "started") return toFileResult(world, payer, outcome);
  return dispatchFile(world, outcome, isFirstTry).catch(rethrowAfterDebit(outcome.operation));
};

export const toFileCounts = (intake: FileIntake): FileCounts =>
  v.parse(FileCounts, { ...intake, list: summarizeList(intake) });

/** The fields of a job that come from its file and from the request. */
export const toListFields = (
  { fileKey, name, options, callback }: FileRequest,
  { input, chunks, checksums, unique, domains, format, isAscii, excluded }: FileIntake,
  idempotencyKey: IdempotencyKey | null,
) => ({
  name: name ?? toJobName(fileKey),
  options,
  callback,
  input,
  upload: fileKey,
  chunks,
  checksums,
  unique,
  domains,
  columns: listOtherColumns(format),
  emailColumn: toEmailColumn(format),
  isAscii,
  delimiter: format.delimiter,
  vendor: format.vendor,
  excluded,
  claim: idempotencyKey && toClaimKey(idempotencyKey),
});

const CONTROL_CHARACTERS = /\p{Cc}+/gu;

const toJobName = (fileKey: string): string | null =>
  getFileName(fileKey).replaceAll(CONTROL_CHARACTERS, " ").trim() || null;

/** After the debit the reconciler, or a repeat with the same key, finishes the operation. */
const rethrowAfterDebit =
  ({ claim }: Operation) =>
  (cause: unknown): never => {
    if (cause instanceof Failure) throw cause;
    const message = "An internal error occurred while the addresses were being queued.";
    throw new Failure("INTERNAL", claim ? "retry_same_key" : "unknown", message, { cause });
  };

/** The file's columns except the first e-mail column. */
const listOtherColumns = ({ columns, emailColumns }: FileIntake["format"]): readonly string[] =>
  columns.filter((_, at) => at !== emailColumns[0]);

/** Without a header the columns have no names; only the first e-mail column gets one. */
const toEmailColumn = ({ columns, emailColumns, hasHeader }: FileIntake["format"]): EmailColumn => {
  const [at = 0, ...others] = emailColumns;
  return {
    name: (hasHeader && columns[at]) || "email",
    at,
    ...(others.length > 0 && { others }),
  };
};

export type FileToRead = Omit<FileRequest, "name" | "options" | "callback">;

/** `blobs`: the store for the rows under `key`; by default the store of `world`. */
export const readList = async (
  world: World,
  payer: Payer,
  { fileKey, emailColumns, hasHeader, skipSettled, field: requestField, columnField }: FileToRead,
  {
    blobs = world.blobs,
    ...reading
  }: Pick<FileIntakeOptions, "key" | "onRow"> & {
    readonly blobs?: Pick<World["blobs"], "put">;
  },
): Promise<FileIntake> => {
  let isLate = false;
  let unreadable: Failure | undefined;
  const requester = { account: payer.account, priority: "list" } as const;
  const pause = () => world.callers.yieldToCallers(requester);
  const read = async () => {
    if (isLate) throw new Error("reading the file has timed out");
    const upload = await findUpload(world, payer, fileKey);
    const onFailure = (failure: Failure) => {
      unreadable = failure;
    };
    const source = readInTime(upload.content, () => isLate, onFailure);
    return ingestFile({ blobs, pause }, source, {
      ...reading,
      addressesMax: PLANS[payer.plan].jobAddressesMax,
      bytesMax: upload.bytes,
      emailColumns,
      hasHeader,
      skipSettled,
      rowsPerChunk: world.settings.chunkRows.file,
    });
  };
  const intake = await withTimeout(
    world,
    READ_TIMEOUT_MS,
    getReadSlots(world).run(payer.account, read),
  ).catch((error: unknown) => {
    // The blob adapter may have wrapped the error.
    throw unreadable ?? error;
  });
  isLate = intake === "late";
  if (intake === "late")
    throw new Failure("UNAVAILABLE", "nothing_charged", "The file could not be read in time.");
  if (intake.kind === "ingested") return intake;
  if (intake.fault === "too_many") throw createTooManyFailure(payer.plan);
  const code = intake.fault === "too_large" ? "PAYLOAD_TOO_LARGE" : "INVALID_REQUEST";
  const field = intake.fault === "unknown_column" ? columnField : requestField;
  throw new Failure(code, "nothing_charged", intake.message, {
    details: [{ field, message: intake.message }],
  });
};

/** Stops reading a file once its request has timed out. */
async function* readInTime(
  content: AsyncIterable<Uint8Array>,
  isLate: () => boolean,
  onFailure: (failure: Failure) => void,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of content) {
      if (isLate()) throw new Error("reading the file has timed out");
      yield piece;
    }
  } catch (error) {
    if (!(error instanceof UnreadableBlobError)) throw error;
    const failure = createUnreadableFailure(error);
    onFailure(failure);
    throw failure;
  }
}

const toFileResult = async (
  world: World,
  payer: Payer,
  outcome: Exclude<BeginResult, { kind: "started" }>,
): Promise<FileResult> => {
  if (outcome.kind === "replayed") {
    const answer = outcome.answer as unknown as FileAnswer;
    const dispatched = await findDispatchedNow(world, answer);
    return { ...answer, dispatched, price: NO_CHARGE, kind: "replayed" };
  }
  const { id, input, isSent } = outcome.operation;
  const remaining = await findRemainingCredits(world.table, payer);
  const kind = isSent ? "settling" : "dispatching";
  return {
    job: id,
    counts: v.parse(FileCounts, input),
    price: NO_CHARGE,
    remaining,
    kind,
    waitMs: outcome.retryAfterMs,
  };
};

const NO_CHARGE = 0 as Halves;
