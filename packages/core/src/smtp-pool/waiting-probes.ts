import type { Requester } from "./fairness.ts";
import { createTurns } from "./fairness.ts";
import { findOtherExit, getBatchSize, type HostQueue, type HostQueues } from "./host-queues.ts";
import type { PendingProbe } from "./probe.ts";
import type { ProviderUse } from "./providers.ts";
import type { SessionPorts } from "./session.ts";
import type { SlotSessionSummary } from "./slots/run-with-slot.ts";
import type { SlotRequest } from "./slots/slots.ts";

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

type MoveParts = {
  readonly queues: HostQueues;
  readonly sessionPorts: SessionPorts;
  readonly waiting: ReturnType<typeof createWaitingProbes>;
};

/** Moves recipients from their queue's exit to another exit. */
export const createMoves = (
  { queues, sessionPorts, waiting }: MoveParts,
  updateQueue: (queue: HostQueue) => void,
  serve: (queue: HostQueue) => void,
) => {
  const findExit = (queue: HostQueue, one: PendingProbe) =>
    findOtherExit(queues, one, queue, sessionPorts.random);

  /** Moves these recipients to another exit. Returns the recipients without another exit. */
  const moveOn = (
    queue: HostQueue,
    recipients: readonly PendingProbe[],
    isLeaving: (one: PendingProbe) => boolean,
  ): readonly PendingProbe[] => {
    const others = new Set<HostQueue>();
    const staying = recipients.filter((one) => {
      const exit = isLeaving(one) ? findExit(queue, one) : null;
      if (exit === null) return true;
      const other = queues.getOrAddQueue(queue.hostsKey, one.hosts[0], exit);
      one.leftExits = [...one.leftExits, queue.slotKey.exit];
      waiting.join(other, one);
      others.add(other);
      return false;
    });
    for (const other of others) serve(other);
    return staying;
  };

  return {
    moveOn,
    mayMove: (queue: HostQueue, recipients: readonly PendingProbe[]): boolean =>
      recipients.some((one) => findExit(queue, one) !== null),
    /** Call after a session. Recipients that found no slot leave, unless they have a turn in the wait queue. */
    putBack: (queue: HostQueue, { mayLeave }: SlotRequest, summary: SlotSessionSummary): void => {
      const isLeaving = summary.isFull && mayLeave && !queue.turn.ticket;
      waiting.putBack(
        queue,
        moveOn(queue, summary.remaining, () => isLeaving),
      );
    },
    /** Call when a backoff begins at this provider and exit: the recipients there move to other exits. */
    moveWaiting: (provider: ProviderUse): void => {
      if (queues.exits.all.length === 1) return;
      for (const queue of listQueuesAt(queues, provider)) {
        waiting.putBack(
          queue,
          moveOn(queue, waiting.takeAll(queue), () => true),
        );
        updateQueue(queue);
      }
    },
  };
};
