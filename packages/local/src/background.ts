import { performance } from "node:perf_hooks";
import type { AppWorld } from "@mailproof/core/app-world";
import { awaySecondsOf, type Received } from "@mailproof/core/queue";
import type { Schedule, Worker } from "@mailproof/core/worker";
import type { LocalWorld } from "./world.ts";

const LONG_POLL_MS = 20_000;
const AFTER_TROUBLE_MS = 1_000;

/** What SQS event sources and EventBridge are on AWS. Ends when all that was begun is done. */
export const runBackground = async (
  world: LocalWorld,
  {
    workers,
    schedules,
  }: { workers: readonly Worker<AppWorld>[]; schedules: readonly Schedule<AppWorld>[] },
  signal: AbortSignal,
): Promise<void> => {
  await Promise.all([
    ...workers.map((worker) => work(world, worker, signal)),
    ...schedules.map((schedule) => repeat(world, schedule, signal)),
  ]);
};

/**
 * As many messages in hand as the queue allows, so that a slow one keeps no other waiting; fewer while there is no
 * time left over, for callers are served by the same thread. No account has more in hand than its share.
 */
const work = async (
  world: LocalWorld,
  worker: Worker<AppWorld>,
  signal: AbortSignal,
): Promise<void> => {
  const { queue } = worker;
  const { evenWhenBusy = ALWAYS_IN_HAND } = queue;
  const hand = workInHand();
  const hasTime = spareTime();
  while (!signal.aborted) {
    if (isDamaged(world)) await world.sleep(LOOK_AGAIN_AFTER_DAMAGE_MS, signal);
    else if (hand.weight() >= queue.atOnce) await hand.oneIsDone();
    else if (hand.weight() >= evenWhenBusy && !hasTime())
      await Promise.race([world.sleep(LOOK_AGAIN_MS, signal), hand.oneIsDone()]);
    else {
      const max = Math.max(1, evenWhenBusy - hand.weight());
      // An account that has its share may have its turn again as soon as a message is done.
      const until = hand.weight() > 0 ? AbortSignal.any([signal, hand.nextDone()]) : signal;
      const received = await world.queue
        .receive(queue, { max, inHand: hand.byGroup, waitMs: LONG_POLL_MS, signal: until })
        .catch((cause: unknown) => trouble(world, queue.name, cause, signal));
      for (const message of received) hand.add(message, handle(world, worker, message));
    }
  }
  await hand.allAreDone();
};

/** The messages that are worked on, and how much of them is whose. */
const workInHand = () => {
  const underWay = new Set<Promise<void>>();
  const byGroup = new Map<string, number>();
  let weightOfAll = 0;
  let done = new AbortController();

  const count = (group: string, by: number): void => {
    const weight = (byGroup.get(group) ?? 0) + by;
    weightOfAll += by;
    if (weight > 0) byGroup.set(group, weight);
    else byGroup.delete(group);
  };

  return {
    byGroup: byGroup as ReadonlyMap<string, number>,
    weight: () => weightOfAll,

    add: ({ group = "", weight = 1 }: Received, work: Promise<void>): void => {
      count(group, weight);
      const one = work.finally(() => {
        underWay.delete(one);
        count(group, -weight);
        done.abort();
        done = new AbortController();
      });
      underWay.add(one);
    },

    nextDone: (): AbortSignal => done.signal,
    oneIsDone: (): Promise<unknown> => Promise.race(underWay),
    allAreDone: (): Promise<unknown> => Promise.all(underWay),
  };
};

/** What is damaged is not written to by what nobody waits for. The schedules go on: one of them looks again. */
const isDamaged = ({ damagedParts }: LocalWorld): boolean => (damagedParts?.().size ?? 0) > 0;
const LOOK_AGAIN_AFTER_DAMAGE_MS = 5_000;

const ALWAYS_IN_HAND = 2;
const LOOK_AGAIN_MS = 50;
/** Of its time, how much the thread may be at work and still take on more. */
const BUSY_SHARE = 0.7;

/** Whether there was time left over lately. Each yes is for one piece of work; then it is looked at again. */
const spareTime = (): (() => boolean) => {
  let since = performance.eventLoopUtilization();
  return () => {
    const { idle, active, utilization } = performance.eventLoopUtilization(since);
    if (idle + active < LOOK_AGAIN_MS) return false;
    since = performance.eventLoopUtilization();
    return utilization < BUSY_SHARE;
  };
};

const handle = async (
  world: LocalWorld,
  worker: Worker<AppWorld>,
  message: Received,
): Promise<void> => {
  const { queue } = worker;
  try {
    await worker.handle(world, message.body);
    await world.queue.done(message.receipt);
  } catch (cause) {
    const { receiveCount } = message;
    world.log("message_failed", { queue: queue.name, receiveCount, cause });
    // If even this fails, the message comes back by itself when its visibility ends.
    await world.queue
      .release(message.receipt, awaySecondsOf(queue, receiveCount))
      .catch(() => false);
  }
};

const repeat = async (
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

const trouble = async (
  world: LocalWorld,
  queue: string,
  cause: unknown,
  signal: AbortSignal,
): Promise<readonly Received[]> => {
  world.log("receive_failed", { queue, cause });
  await world.sleep(AFTER_TROUBLE_MS, signal);
  return [];
};
