import { sharesOf } from "./queue.ts";

// What a process can do only a few times at once, and accounts share.

export type AccountSlots = {
  /** Runs the work as soon as its account may have a slot. Those that wait begin in the order of their arrival. */
  readonly run: <T>(account: string, work: () => Promise<T>) => Promise<T>;
};

/** An account that holds as many slots as are free waits, and holds up no other meanwhile. */
export const accountSlots = (limit: number): AccountSlots => {
  const held = new Map<string, number>();
  let waiting: { readonly account: string; readonly begin: () => void }[] = [];

  const mayBegin = (account: string): boolean => {
    const total = [...held.values()].reduce((sum, slots) => sum + slots, 0);
    return total < limit && !sharesOf({ atOnce: limit }, held).isFull(account);
  };

  const acquire = async (account: string): Promise<void> => {
    if (!mayBegin(account)) await new Promise<void>((begin) => waiting.push({ account, begin }));
    else take(account);
  };

  const take = (account: string): void => void held.set(account, (held.get(account) ?? 0) + 1);

  const nextWaiting = () => {
    const next = waiting.find(({ account }) => mayBegin(account));
    waiting = waiting.filter((one) => one !== next);
    return next;
  };

  const release = (account: string): void => {
    const slots = (held.get(account) ?? 0) - 1;
    if (slots > 0) held.set(account, slots);
    else held.delete(account);
    for (let next = nextWaiting(); next; next = nextWaiting()) {
      take(next.account);
      next.begin();
    }
  };

  return {
    run: async (account, work) => {
      await acquire(account);
      try {
        return await work();
      } finally {
        release(account);
      }
    },
  };
};
