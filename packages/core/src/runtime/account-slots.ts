import { createFairShares } from "../ports/queue.ts";

// A limited number of slots per process that accounts share.

export type AccountSlots = {
  /** Runs the work as soon as its account may have a slot. Waiting work starts in the order of arrival. */
  readonly run: <T>(account: string, work: () => Promise<T>) => Promise<T>;
};

/** An account that holds as many slots as are free waits, and does not block other accounts. */
export const createAccountSlots = (limit: number): AccountSlots => {
  const slotsInUse = new Map<string, number>();
  let waiting: { readonly account: string; readonly begin: () => void }[] = [];

  const mayStart = (account: string): boolean => {
    const total = [...slotsInUse.values()].reduce((sum, slots) => sum + slots, 0);
    return total < limit && !createFairShares({ concurrency: limit }, slotsInUse).isFull(account);
  };

  const acquireSlot = async (account: string): Promise<void> => {
    if (!mayStart(account))
      await new Promise<void>((start) => waiting.push({ account, begin: start }));
    else occupySlot(account);
  };

  const occupySlot = (account: string): void =>
    void slotsInUse.set(account, (slotsInUse.get(account) ?? 0) + 1);

  const takeNextWaiting = () => {
    const next = waiting.find(({ account }) => mayStart(account));
    waiting = waiting.filter((one) => one !== next);
    return next;
  };

  const releaseSlot = (account: string): void => {
    const slots = (slotsInUse.get(account) ?? 0) - 1;
    if (slots > 0) slotsInUse.set(account, slots);
    else slotsInUse.delete(account);
    for (let next = takeNextWaiting(); next; next = takeNextWaiting()) {
      occupySlot(next.account);
      next.begin();
    }
  };

  return {
    run: async (account, work) => {
      await acquireSlot(account);
      try {
        return await work();
      } finally {
        releaseSlot(account);
      }
    },
  };
};
