import type { AppWorld } from "@mailproof/core/app-world";
import {
  getRetryDelaySeconds,
  type QueueConfig,
  type ReceivedMessage,
} from "@mailproof/core/ports/queue";
import type { Schedule, Worker } from "@mailproof/core/runtime/worker";
import type { LocalWorld } from "../app.ts";
import { createIdleCheck, IDLE_WINDOW_MS } from "./idle-check.ts";

const LONG_POLL_MS = 20_000;
const RECEIVE_RETRY_MS = 1_000;

/** The counterpart of SQS event sources and EventBridge on AWS. Ends when all started work is done. */
export const runBackground = async (
  world: LocalWorld,
  {
    workers,
    schedules,
  }: { workers: readonly Worker<AppWorld>[]; schedules: readonly Schedule<AppWorld>[] },
  signal: AbortSignal,
): Promise<void> => {
  await Promise.all([
    ...workers.map((worker) => runWorker(world, worker, signal)),
    ...schedules.map((schedule) => runSchedule(world, schedule, signal)),
  ]);
};

/**
 * Handles as many messages at a time as the queue allows, so that a slow message delays no other. It handles fewer
 * while the thread is busy, because the same thread serves callers; an account that has none in progress gets one all the
 * same, or its small job would wait for the slow mail servers of others. No account has more in progress than its share.
 */
const runWorker = async (
  world: LocalWorld,
  worker: Worker<AppWorld>,
  signal: AbortSignal,
): Promise<void> => {
  const { queue } = worker;
  const inFlight = createInFlight();
  const hasTime = createIdleCheck();
  while (!signal.aborted) {
    const weight = inFlight.weight();
    const evenWhenBusy = getConcurrencyWhenBusy(world, queue);
    const isBusy = weight >= evenWhenBusy && !hasTime();
    if (world.damagedParts().size > 0) await world.sleep(DAMAGE_RECHECK_MS, signal);
    else if (weight >= queue.concurrency) await inFlight.waitForOne();
    else if (isBusy && inFlight.byGroup.has(NO_GROUP))
      await Promise.race([world.sleep(IDLE_WINDOW_MS, signal), inFlight.waitForOne()]);
    else {
      const max = Math.max(1, evenWhenBusy - weight);
      // When one place is left to share, an account with any message in progress has used its share.
      const from = isBusy ? { ...queue, concurrency: weight + 1 } : queue;
      const waitMs = isBusy ? IDLE_WINDOW_MS : LONG_POLL_MS;
      // An account at its share gets its next turn as soon as one of its messages is done.
      const until = weight > 0 ? AbortSignal.any([signal, inFlight.getDoneSignal()]) : signal;
      const received = await world.queue
        .receive(from, { max, inFlight: inFlight.byGroup, waitMs, signal: until })
        .catch((cause: unknown) => handleReceiveError(world, queue.name, cause, signal));
      for (const message of received) inFlight.add(message, handleMessage(world, worker, message));
    }
  }
  await inFlight.waitForAll();
};

/** The messages in progress, counted by account. */
const createInFlight = () => {
  const pending = new Set<Promise<void>>();
  const byGroup = new Map<string, number>();
  let weightOfAll = 0;
  let done = new AbortController();

  const changeWeight = (group: string, by: number): void => {
    const weight = (byGroup.get(group) ?? 0) + by;
    weightOfAll += by;
    if (weight > 0) byGroup.set(group, weight);
    else byGroup.delete(group);
  };

  return {
    byGroup: byGroup as ReadonlyMap<string, number>,
    weight: () => weightOfAll,

    add: ({ group = NO_GROUP, weight = 1 }: ReceivedMessage, work: Promise<void>): void => {
      changeWeight(group, weight);
      const one = work.finally(() => {
        pending.delete(one);
        changeWeight(group, -weight);
        done.abort();
        done = new AbortController();
      });
      pending.add(one);
    },

    getDoneSignal: (): AbortSignal => done.signal,
    waitForOne: (): Promise<unknown> => Promise.race(pending),
    waitForAll: (): Promise<unknown> => Promise.all(pending),
  };
};

/** With damaged state the queue workers pause. The schedules continue: one of them checks again. */
const DAMAGE_RECHECK_MS = 5_000;

const IN_FLIGHT_MIN = 2;
/** Messages without a group are not limited to a share. */
const NO_GROUP = "";

const getConcurrencyWhenBusy = ({ hasMemory }: LocalWorld, queue: QueueConfig): number =>
  queue.isBoundByMemory && hasMemory()
    ? queue.concurrency
    : (queue.concurrencyWhenBusy ?? IN_FLIGHT_MIN);

const handleMessage = async (
  world: LocalWorld,
  worker: Worker<AppWorld>,
  message: ReceivedMessage,
): Promise<void> => {
  const { queue } = worker;
  try {
    await worker.handle(world, message.body);
    await world.queue.acknowledge(message.receipt);
  } catch (cause) {
    const { receiveCount } = message;
    world.log("message_failed", { queue: queue.name, receiveCount, cause });
    // If this write fails, too, the message returns when its visibility timeout ends.
    await world.queue
      .requeue(message.receipt, getRetryDelaySeconds(queue, receiveCount))
      .catch(() => false);
  }
};

const runSchedule = async (
  world: LocalWorld,
  schedule: Schedule<AppWorld>,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    await schedule.run(world).catch((cause: unknown) => {
      world.log("schedule_failed", { schedule: schedule.name, cause });
    });
    await world.sleep(schedule.everySeconds * 1000, signal);
  }
};

const handleReceiveError = async (
  world: LocalWorld,
  queue: string,
  cause: unknown,
  signal: AbortSignal,
): Promise<readonly ReceivedMessage[]> => {
  world.log("receive_failed", { queue, cause });
  await world.sleep(RECEIVE_RETRY_MS, signal);
  return [];
};
