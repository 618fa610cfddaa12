import { commit } from "../commit.ts";
import { readDue } from "../due.ts";
import { inMs } from "../moments.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import { move } from "../money/ledger.ts";
import type { Item, Write } from "../table.ts";
import type { World } from "../world.ts";
import { firstMessages, sendChunks } from "./chunk-messages.ts";
import { chunksOf, findChunk, givenBack } from "./chunks.ts";
import { completeIfDone } from "./completion.ts";
import { findInput } from "./input-facts.ts";
import { type Job, jobKey, OPEN_STATUSES, readJob } from "./items.ts";

// A job of many chunks that is not done: are its chunks on their way, is its money where it belongs, does it go on?

export const JOB = "job";

/** So often somebody looks whether a job still goes on. */
export const LOOK_AGAIN_MS = 3_600_000;
/** What could not be sent for this long is given back. */
const GIVE_UP_AFTER_MS = 3_600_000;
const RESOLVE_AGAIN_MS = 60_000;
const RESOLVED_AT_ONCE = 50;

export const repairJob = async (world: World, item: Item): Promise<string> => {
  const job = readJob(item);
  const { token } = readDue(item);
  if (job.unresolved.length > 0) return resolve(world, job, token);
  if (await completeIfDone(world, job.id)) return "completed";
  const isStuck = job.processed === job.seen;
  if (isStuck) await sendUndone(world, job);
  await lookAgain(world, job, token);
  return isStuck ? "sent_again" : "goes_on";
};

/** Every chunk of which nothing is known. Those that are on their way come twice, and change nothing. */
const sendUndone = async (world: World, job: Job): Promise<void> => {
  const known = new Set<number>();
  for await (const { chunk } of chunksOf(world.table, job.id)) known.add(chunk);
  const messages = firstMessages(job.id, await findInput(world.table, job.id));
  await sendChunks(
    world,
    job,
    messages.filter(({ chunk }) => !known.has(chunk)),
  );
};

const lookAgain = async (world: World, { id, processed }: Job, token: string): Promise<void> => {
  await world.table.write({
    update: jobKey(id),
    set: { seen: processed, due_sk: inMs(world.now(), LOOK_AGAIN_MS).toISOString() },
    where: { token },
  });
};

/** Chunks that may or may not have been queued: each is sent again until we know, and given back if we never do. */
const resolve = async (world: World, job: Job, token: string): Promise<string> => {
  const messages = firstMessages(job.id, await findInput(world.table, job.id));
  const isHopeless = world.now().getTime() - Date.parse(job.createdAt) > GIVE_UP_AFTER_MS;
  let now = job;
  for (const chunk of job.unresolved.slice(0, RESOLVED_AT_ONCE)) {
    const found = await findChunk(world.table, job.id, chunk);
    const message = messages[chunk];
    const sent = found || !message ? "sent" : (await sendChunks(world, job, [message]))[0];
    if (sent !== "sent" && !isHopeless) continue;
    const how = sent === "sent" ? "settle" : "release";
    now = await resolved(world, now, { chunk, how, token });
  }
  const isLeft = now.unresolved.length > 0;
  await world.table.write({
    update: jobKey(job.id),
    set: { due_sk: inMs(world.now(), isLeft ? RESOLVE_AGAIN_MS : LOOK_AGAIN_MS).toISOString() },
    where: { token },
  });
  if (!isLeft) await completeIfDone(world, job.id);
  return isLeft ? "partly_resolved" : "resolved";
};

type Resolution = {
  readonly chunk: number;
  readonly how: "settle" | "release";
  readonly token: string;
};

/** The job as it is afterwards. A chunk has one entry, whether it is settled or given back: it cannot be both. */
const resolved = async (world: World, job: Job, resolution: Resolution): Promise<Job> => {
  const { chunk, how, token } = resolution;
  const addresses = Math.min(job.chunkRows, job.total - chunk * job.chunkRows);
  const amount = (addresses * PRICE.fileAddress) as Halves;
  const held = job.mode === "live" ? amount : 0;
  const unresolved = job.unresolved.filter((one) => one !== chunk);
  const after: Job = {
    ...job,
    unresolved,
    unsettled: unresolved.length,
    held: (job.held - held) as Halves,
    refunded: job.refunded + (how === "release" ? addresses : 0),
  };
  const { outcome } = await commit(world, [
    {
      update: jobKey(job.id),
      set: {
        unresolved,
        unsettled: unresolved.length,
        held: after.held,
        refunded: after.refunded,
        ...(unresolved.length === 0 && { status: "processing" }),
      },
      where: { token, unsettled: job.unsettled, status: { oneOf: OPEN_STATUSES } },
    },
    ...moneyOf(world, job, resolution, amount),
    ...(how === "release" ? [givenBack(job, chunk, world.now())] : []),
  ]);
  // Refused: a worker did the chunk meanwhile, or another hand has the job. Whoever looks next sees which.
  if (outcome !== "committed") throw new Error(`chunk ${chunk} was not resolved: ${outcome}`);
  return after;
};

const moneyOf = (
  world: World,
  { id, account, createdAt: openedAt, mode, reason }: Job,
  { chunk, how, token }: Resolution,
  amount: Halves,
): readonly Write[] =>
  mode === "test"
    ? []
    : move({
        account,
        operation: id,
        openedAt,
        step: `chunk-${chunk}`,
        at: world.now().toISOString(),
        moved: { [how]: amount },
        reason,
        token,
      });
