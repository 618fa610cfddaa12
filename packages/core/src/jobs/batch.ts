import { ownerOf, type Payer } from "../access/payer.ts";
import { inMs } from "../moments.ts";
import type { Keyed } from "../money/claims.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import { payAtOnce } from "../money/operations.ts";
import { seal } from "../sealed.ts";
import type { World } from "../world.ts";
import { firstMessages, type JobSize, sendChunks } from "./chunk-messages.ts";
import type { WrittenInput } from "./input-blob.ts";
import { takeInBatch } from "./intake.ts";
import { type Job, jobKey } from "./items.ts";
import {
  assertWithinPlan,
  forgettingInput,
  inputKeyOf,
  removeInput,
  writesOfNewJob,
} from "./new-job.ts";
import { LOOK_AGAIN_MS } from "./repair.ts";

export type BatchWish = {
  readonly emails: readonly string[];
  readonly name: string | null;
  readonly wants: NonNullable<Job["wants"]>;
  /** Its secret in clear, as it was sent. */
  readonly callback: NonNullable<Job["callback"]> | null;
};

export type BatchTold = Accepted & { readonly replayed: boolean };

/** What a claim remembers, and a repeat is told. */
type Accepted = {
  readonly job: string;
  readonly createdAt: string;
  readonly totalSubmitted: number;
  readonly duplicatesRemoved: number;
  readonly unique: number;
  readonly price: Halves;
};

/** Takes a list in and pays for it at once. From then on it is a job, whatever happens to the one who accepted it. */
export const acceptBatch = async (
  world: World,
  payer: Payer,
  wish: BatchWish,
  keyed: Keyed | null,
): Promise<BatchTold> => {
  const id = world.newId("job");
  const reason = "POST /v1/verify/batch";
  const createdAt = world.now();
  const chunkRows = world.settings.chunkRows.batch;
  let stored: Pick<WrittenInput, "chunks" | "checksums"> = { chunks: [], checksums: [] };
  let told: Accepted | undefined;
  const order = { id, kind: "batch", payer, reason, keyed, leaseMs: 0 };
  const came = await payAtOnce(world, order, async () => {
    const into = { key: inputKeyOf(id), rowsPerChunk: chunkRows };
    const taken = await takeInBatch(world.blobs, wish.emails, into);
    const { unique, totalSubmitted, duplicatesRemoved } = taken;
    assertWithinPlan(payer, unique);
    stored = taken;
    const price = (unique * PRICE.batchAddress) as Halves;
    told = {
      job: id,
      createdAt: createdAt.toISOString(),
      totalSubmitted,
      duplicatesRemoved,
      unique,
      price,
    };
    const { name, wants } = wish;
    const callback = wish.callback && sealedFor(world, ownerOf(payer), wish.callback);
    const also = writesOfNewJob(world, {
      id,
      kind: "batch",
      payer,
      reason,
      name,
      wants,
      callback,
      createdAt,
      input: taken.input,
      chunks: taken.chunks,
      checksums: taken.checksums,
      unique,
      chunkRows,
      columns: [],
      emailColumn: null,
      isAscii: taken.isAscii,
      delimiter: "",
      hasEmailCells: true,
      excluded: taken.excluded,
      unsettled: 0,
      claim: null,
    });
    return { price, answer: told, also };
  }).catch(forgettingInput(world, id));
  if (!("paid" in came)) await removeInput(world, id);
  if ("answered" in came) return { ...(came.answered as unknown as Accepted), replayed: true };
  // Its answer is written with the debit, so nobody ever finds it half done.
  if (!("paid" in came) || !told) throw new Error("a batch that nobody took in");
  await sendAll(world, { ...payer, id, total: told.unique, chunkRows }, stored);
  return { ...told, replayed: false };
};

const sealedFor = (
  world: World,
  owner: string,
  { url, secret }: NonNullable<Job["callback"]>,
): NonNullable<Job["callback"]> => ({
  url,
  secret: secret === null ? null : seal(world, owner, secret),
});

/** It is paid for and accepted: what is not sent now is sent by whoever looks whether the job goes on. */
const sendAll = async (
  world: World,
  job: JobSize & Pick<Job, "id">,
  stored: Pick<WrittenInput, "chunks" | "checksums">,
): Promise<void> => {
  const messages = firstMessages(job.id, stored);
  const sent = await sendChunks(world, job, messages).catch(() => undefined);
  if (!sent?.every((one) => one === "sent")) return;
  await world.table
    .write({
      update: jobKey(job.id),
      set: { due_sk: inMs(world.now(), LOOK_AGAIN_MS).toISOString() },
      where: { status: "processing", seen: 0 },
    })
    .catch(() => undefined);
};
