import { addMs } from "../lib/time.ts";
import { payImmediately } from "../money/begin-operation.ts";
import type { Halves } from "../money/credits.ts";
import type { IdempotencyKey } from "../money/idempotency-claims.ts";
import type { Payer } from "../money/payer.ts";
import type { PaidOperation } from "../money/reasons.ts";
import type { Json } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { createFirstMessages, type JobSize, sendChunks } from "../rows/chunk-messages.ts";
import { findReplayedJob, JOB_CHECK_INTERVAL_MS, type Job, toJobKey } from "../rows/items.ts";
import { completeIfDone } from "./completion.ts";
import {
  assertWithinPlan,
  buildNewJobWrites,
  type NewList,
  recordDraft,
  removeInput,
  removeInputUnlessCharged,
} from "./new-job.ts";

// One list, from its request to its bill. Its rows are written first, in chunks; then one transaction charges every row and makes
// the list a job; then a message for each chunk is sent. A file is accepted in two steps, since the contract's response states
// how many of its chunks were queued: its price is held (file.ts), and settled by the replies of the queue (dispatch.ts). A
// worker verifies the rows pass by pass (chunk-worker.ts, rows/pass.ts). When every row has a result or a refund the job ends,
// returns the credits of the rows that cost nothing, and emits its event (completion.ts). The reconciler continues where a
// process died (repair-job.ts). A caller may cancel the job, which refunds the rows without a result (cancel-job.ts), verify
// some of its rows again (again.ts), or send a newer list that keeps its results (continue-list.ts).

/** The answer to every accepted list, which the claim stores for repeats. */
export type AcceptedList = {
  readonly job: string;
  readonly createdAt: string;
  readonly price: Halves;
};

type ListOrder = {
  readonly kind: "batch" | "file";
  readonly reason: PaidOperation;
  readonly idempotencyKey: IdempotencyKey | null;
  readonly chunkRows: number;
  /** The price of one distinct address. */
  readonly price: Halves;
  readonly statesRemaining?: true;
};

/** The metadata of a list without a file: no columns. */
const NO_COLUMNS = { columns: [], emailColumn: null, delimiter: "" } as const;

type WrittenList = Omit<NewList, keyof typeof NO_COLUMNS> &
  Partial<Pick<NewList, keyof typeof NO_COLUMNS>>;

type Prepared<A> = { readonly list: WrittenList; readonly answer: A };

/**
 * Charges a list in the transaction that makes it a job, even if this process crashes afterwards. `prepare` writes its input,
 * and is asked only if no earlier request with this key was accepted.
 */
export const acceptList = async <A extends Readonly<Record<string, Json>>>(
  world: World,
  payer: Payer,
  { kind, reason, idempotencyKey, chunkRows, price: each, statesRemaining }: ListOrder,
  prepare: (id: string) => Promise<Prepared<A>>,
): Promise<AcceptedList & A & Acceptance> => {
  const id = world.newId("job");
  const createdAt = world.now();
  const stated = statesRemaining && { statesRemaining };
  const operation = { id, kind, payer, reason, idempotencyKey, leaseMs: 0, ...stated };
  let accepted: { readonly list: WrittenList; readonly answer: AcceptedList & A } | undefined;
  const outcome = await payImmediately(world, operation, async () => {
    const withdrawDraft = await recordDraft(world, payer, id);
    const { list, answer: own } = await prepare(id);
    assertWithinPlan(payer, list.unique);
    const price = ((list.unique - countTaken(list)) * each) as Halves;
    const answer = { job: id, createdAt: createdAt.toISOString(), price, ...own };
    accepted = { list, answer };
    const writes = (shard: number, countedIn: Job["countedIn"]) => [
      ...buildNewJobWrites(world, {
        ...NO_COLUMNS,
        ...list,
        id,
        kind,
        payer,
        reason,
        createdAt,
        chunkRows,
        shard,
        countedIn,
        unsettled: 0,
      }),
      withdrawDraft,
    ];
    return { price, answer, writes };
  }).catch(removeInputUnlessCharged(world, id));
  if (outcome.kind !== "paid") await removeInput(world, id);
  if (outcome.kind === "replayed") {
    const answer = outcome.answer as unknown as AcceptedList & A;
    await findReplayedJob(world.table, answer.job);
    return { ...answer, replayed: true };
  }
  // One transaction writes the answer and the debit, so no list is ever in progress.
  if (outcome.kind !== "paid" || !accepted) throw new Error("the list was not accepted");
  const { list, answer } = accepted;
  if (list.unique > countTaken(list))
    await sendFirstChunks(world, { ...payer, id, kind, total: list.unique, chunkRows }, list);
  // Every row repeats another row or keeps an earlier result. The reconciler repeats each step that fails here.
  else await completeIfDone(world, id).catch(() => undefined);
  return { ...answer, replayed: false, left: outcome.left };
};

/** `left`: the balance after the debit, if the order states it and the charge was not 0. */
type Acceptance = { readonly replayed: boolean; readonly left?: Halves | undefined };

const countTaken = ({ taken }: Pick<WrittenList, "taken">): number => taken?.rows ?? 0;

/** Best effort: the reconciler's check of the job sends the chunks whose message fails here. */
const sendFirstChunks = async (
  world: World,
  job: JobSize & Pick<Job, "id">,
  stored: Pick<WrittenList, "chunks" | "checksums" | "taken">,
): Promise<void> => {
  const messages = createFirstMessages(job.id, stored).filter(
    ({ chunk }) => !stored.taken?.completeChunks.has(chunk),
  );
  const sent = await sendChunks(world, job, messages).catch(() => undefined);
  if (!sent?.every((one) => one === "sent")) return;
  await world.table
    .write({
      update: toJobKey(job.id),
      set: { due_sk: addMs(world.now(), JOB_CHECK_INTERVAL_MS).toISOString() },
      where: { status: "processing", seen: countTaken(stored) },
    })
    .catch(() => undefined);
};
