import { createTurns, type Requester } from "./fairness.ts";
import { getBatchSize, type HostQueue, type HostQueues } from "./host-queues.ts";
import type { PendingProbe } from "./probe.ts";
import type { ProviderUse } from "./providers.ts";

/** A list with this many rows at other hosts may wait at one host to gather rows. */
const ROWS_ELSEWHERE = 100;

/**
 * The recipients at each host queue, with the turns of accounts among the queues. `expire` gives a result to a recipient
 * whose caller is gone.
 */
export const createWaitingProbes = (expire: (queue: HostQueue, one: PendingProbe) => void) => {
  const turns = createTurns<HostQueue>();
  /** The host queues of the recipients with a deadline. */
  const queueOf = new Map<PendingProbe, HostQueue>();
  /** The number of waiting rows of lists, by account. */
  const rows = new Map<string, number>();
  const countRow = ({ requester: { account, priority } }: PendingProbe, by: 1 | -1): void => {
    const count = (rows.get(account) ?? 0) + by;
    if (priority === "list" && count > 0) rows.set(account, count);
    else if (priority === "list") rows.delete(account);
  };
  const isLong = (queue: HostQueue, { account, priority }: Requester): boolean =>
    priority === "list" && (rows.get(account) ?? 0) - queue.waiting.size() >= ROWS_ELSEWHERE;
  const enter = (queue: HostQueue, one: PendingProbe): void => {
    turns.add(one.requester, queue);
    countRow(one, 1);
    if (one.waitMs !== undefined) queueOf.set(one, queue);
  };
  const leave = (queue: HostQueue, removed: readonly PendingProbe[]): readonly PendingProbe[] => {
    for (const one of removed) {
      queueOf.delete(one);
      countRow(one, -1);
      if (!queue.waiting.has(one.requester)) turns.remove(one.requester, queue);
    }
    return removed;
  };
  return {
    listTurns: turns.list,
    isLong,
    join: (queue: HostQueue, one: PendingProbe): void => {
      if (one.isExpired) return expire(queue, one);
      queue.waiting.push(one);
      enter(queue, one);
    },
    /** Drops a recipient whose caller has left. Within a session the recipient stays until the end. */
    drop: (one: PendingProbe, onLeft: (queue: HostQueue) => void): void => {
      one.isExpired = true;
      const queue = queueOf.get(one);
      if (!queue?.waiting.remove(one)) return;
      leave(queue, [one]);
      expire(queue, one);
      onLeft(queue);
    },
    take: (queue: HostQueue, opener: Requester): readonly PendingProbe[] => {
      turns.putLast(opener, queue);
      const batchSize = getBatchSize(queue, opener, isLong(queue, opener));
      return leave(queue, queue.waiting.take(batchSize, opener));
    },
    takeAll: (queue: HostQueue): readonly PendingProbe[] => leave(queue, queue.waiting.takeAll()),
    putBack: (queue: HostQueue, remaining: readonly PendingProbe[]): void => {
      const { true: expired = [], false: patient = [] } = Object.groupBy(
        remaining,
        ({ isExpired }) => `${isExpired}` as const,
      );
      for (const one of expired) expire(queue, one);
      queue.waiting.putBack(patient);
      for (const one of patient) enter(queue, one);
    },
  };
};

export const listQueuesAt = ({ all }: HostQueues, provider: ProviderUse): readonly HostQueue[] =>
  [...provider.queues].flatMap((key) => all.get(key) ?? []);
