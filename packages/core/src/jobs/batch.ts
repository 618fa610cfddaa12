import { ingestBatch } from "../intake/ingest.ts";
import type { WrittenInput } from "../intake/input-blob.ts";
import { encryptSecret } from "../lib/secret-box.ts";
import { addMs } from "../lib/time.ts";
import { payImmediately } from "../money/begin-operation.ts";
import type { Halves } from "../money/credits.ts";
import type { IdempotencyKey } from "../money/idempotency-claims.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import { PRICES } from "../money/prices.ts";
import type { World } from "../ports/world.ts";
import { createFirstMessages, type JobSize, sendChunks } from "./chunk-messages.ts";
import { findReplayedJob } from "./find-replayed-job.ts";
import { type Job, toJobKey } from "./items.ts";
import {
  assertWithinPlan,
  buildNewJobWrites,
  removeInput,
  removeInputUnlessCharged,
  toInputBlobKey,
} from "./new-job.ts";
import { JOB_CHECK_INTERVAL_MS } from "./repair-job.ts";

export type BatchRequest = {
  readonly emails: readonly string[];
  readonly name: string | null;
  readonly options: NonNullable<Job["options"]>;
  /** Its secret in plain text, as the client sent it. */
  readonly callback: NonNullable<Job["callback"]> | null;
};

export type BatchResult = AcceptedBatch & { readonly replayed: boolean };

/** The answer that the claim stores and a repeat gets. */
type AcceptedBatch = {
  readonly job: string;
  readonly createdAt: string;
  readonly totalSubmitted: number;
  readonly duplicatesRemoved: number;
  readonly unique: number;
  readonly price: Halves;
};

/** Accepts a list and charges it at once. From then on it is a job, even if this process crashes. */
export const acceptBatch = async (
  world: World,
  payer: Payer,
  request: BatchRequest,
  idempotencyKey: IdempotencyKey | null,
): Promise<BatchResult> => {
  const id = world.newId("job");
  const reason = "verify_batch" as const;
  const createdAt = world.now();
  const chunkRows = world.settings.chunkRows.batch;
  let stored: Pick<WrittenInput, "chunks" | "checksums"> = { chunks: [], checksums: [] };
  let accepted: AcceptedBatch | undefined;
  const operation = { id, kind: "batch", payer, reason, idempotencyKey, leaseMs: 0 };
  const outcome = await payImmediately(world, operation, async () => {
    const destination = { key: toInputBlobKey(id), rowsPerChunk: chunkRows };
    const intake = await ingestBatch(world.blobs, request.emails, destination);
    const { unique, totalSubmitted, duplicatesRemoved } = intake;
    assertWithinPlan(payer, unique);
    stored = intake;
    const price = (unique * PRICES.batchAddress) as Halves;
    accepted = {
      job: id,
      createdAt: createdAt.toISOString(),
      totalSubmitted,
      duplicatesRemoved,
      unique,
      price,
    };
    const { name, options } = request;
    const callback =
      request.callback && encryptCallback(world, getOwnerId(payer), request.callback);
    const writes = (shard: number) =>
      buildNewJobWrites(world, {
        id,
        kind: "batch",
        payer,
        reason,
        name,
        options,
        callback,
        createdAt,
        input: intake.input,
        chunks: intake.chunks,
        checksums: intake.checksums,
        unique,
        domains: intake.domains,
        chunkRows,
        columns: [],
        emailColumn: null,
        isAscii: intake.isAscii,
        delimiter: "",
        excluded: intake.excluded,
        unsettled: 0,
        claim: null,
        shard,
      });
    return { price, answer: accepted, writes };
  }).catch(removeInputUnlessCharged(world, id));
  if (outcome.kind !== "paid") await removeInput(world, id);
  if (outcome.kind === "replayed") {
    const answer = outcome.answer as unknown as AcceptedBatch;
    await findReplayedJob(world, answer.job);
    return { ...answer, replayed: true };
  }
  // Its answer is written with the debit, so a batch is never under way.
  if (outcome.kind !== "paid" || !accepted) throw new Error("the batch was not accepted");
  await sendFirstChunks(world, { ...payer, id, total: accepted.unique, chunkRows }, stored);
  return { ...accepted, replayed: false };
};

const encryptCallback = (
  world: World,
  owner: string,
  { url, secret }: NonNullable<Job["callback"]>,
): NonNullable<Job["callback"]> => ({
  url,
  secret: secret === null ? null : encryptSecret(world, owner, secret),
});

/** Best effort: the reconciler's check of the job sends the chunks that are not sent here. */
export const sendFirstChunks = async (
  world: World,
  job: JobSize & Pick<Job, "id">,
  stored: Pick<WrittenInput, "chunks" | "checksums">,
): Promise<void> => {
  const messages = createFirstMessages(job.id, stored);
  const sent = await sendChunks(world, job, messages).catch(() => undefined);
  if (!sent?.every((one) => one === "sent")) return;
  await world.table
    .write({
      update: toJobKey(job.id),
      set: { due_sk: addMs(world.now(), JOB_CHECK_INTERVAL_MS).toISOString() },
      where: { status: "processing", seen: 0 },
    })
    .catch(() => undefined);
};
