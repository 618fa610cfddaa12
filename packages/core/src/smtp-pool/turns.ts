import { PRIORITIES, type Requester } from "./requester.ts";

/**
 * The host queues where each account waits, in the order in which they are served: callers before lists, then the
 * account whose last turn was longest ago, then its queue that was served longest ago.
 */
export const createTurns = <HostQueue>() => {
  const waiting = {
    caller: new Map<string, Set<HostQueue>>(),
    list: new Map<string, Set<HostQueue>>(),
  };

  const add = ({ account, priority }: Requester, queue: HostQueue): void => {
    const queues = waiting[priority].get(account);
    if (queues) queues.add(queue);
    else waiting[priority].set(account, new Set([queue]));
  };

  const remove = ({ account, priority }: Requester, queue: HostQueue): void => {
    const queues = waiting[priority].get(account);
    queues?.delete(queue);
    if (queues?.size === 0) waiting[priority].delete(account);
  };

  /** After a turn the account comes after all others, and the queue after all others of the account. */
  const putLast = ({ account, priority }: Requester, queue: HostQueue): void => {
    const queues = waiting[priority].get(account);
    if (!queues) return;
    if (queues.delete(queue)) queues.add(queue);
    waiting[priority].delete(account);
    waiting[priority].set(account, queues);
  };

  const next = (
    mayOpen: (requester: Requester) => boolean,
    isReady: (queue: HostQueue, requester: Requester) => boolean,
  ): { readonly queue: HostQueue; readonly requester: Requester } | undefined => {
    for (const priority of PRIORITIES)
      for (const [account, queues] of waiting[priority]) {
        const requester = { account, priority };
        if (!mayOpen(requester)) continue;
        for (const queue of queues) if (isReady(queue, requester)) return { queue, requester };
      }
    return undefined;
  };

  return { add, remove, putLast, next };
};
