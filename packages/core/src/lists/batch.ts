import { ingestBatch } from "../intake/ingest.ts";
import { encryptSecret } from "../lib/secret-box.ts";
import type { IdempotencyKey } from "../money/idempotency-claims.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import { PRICES } from "../money/prices.ts";
import type { World } from "../ports/world.ts";
import type { Job } from "../rows/items.ts";
import { type AcceptedList, acceptList } from "./accept-list.ts";
import { toInputBlobKey } from "./new-job.ts";

export type BatchRequest = {
  readonly emails: readonly string[];
  readonly name: string | null;
  readonly options: NonNullable<Job["options"]>;
  /** The callback, with its secret in plain text as the client sent it. */
  readonly callback: NonNullable<Job["callback"]> | null;
};

export type BatchResult = AcceptedList & {
  readonly totalSubmitted: number;
  readonly duplicatesRemoved: number;
  readonly unique: number;
  readonly replayed: boolean;
};

/** Accepts the addresses of one request and charges them at once. */
export const acceptBatch = (
  world: World,
  payer: Payer,
  { emails, name, options, callback }: BatchRequest,
  idempotencyKey: IdempotencyKey | null,
): Promise<BatchResult> => {
  const chunkRows = world.settings.chunkRows.batch;
  const price = PRICES.batchAddress;
  const order = {
    kind: "batch",
    reason: "verify_batch",
    idempotencyKey,
    chunkRows,
    price,
  } as const;
  return acceptList(world, payer, order, async (id) => {
    const destination = { key: toInputBlobKey(id), rowsPerChunk: chunkRows };
    const { totalSubmitted, duplicatesRemoved, ...intake } = await ingestBatch(
      world.blobs,
      emails,
      destination,
    );
    return {
      list: {
        ...intake,
        name,
        options,
        callback: callback && encryptCallback(world, getOwnerId(payer), callback),
        claim: null,
      },
      answer: { totalSubmitted, duplicatesRemoved, unique: intake.unique },
    };
  });
};

const encryptCallback = (
  world: World,
  owner: string,
  { url, secret }: NonNullable<Job["callback"]>,
): NonNullable<Job["callback"]> => ({
  url,
  secret: secret === null ? null : encryptSecret(world, owner, secret),
});
