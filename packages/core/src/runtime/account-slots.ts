import { type BudgetLimits, createBudget, type Hold } from "../lib/budget.ts";

// A limited number of slots per process that accounts share.

export type AccountSlots = {
  /** Runs the work as soon as its account may have a slot. Accounts take turns. */
  readonly run: <T>(account: string, work: () => Promise<T>) => Promise<T>;
};

/** An account that has its share of the slots waits, and does not block other accounts. */
export const createAccountSlots = (limits: BudgetLimits): AccountSlots => {
  const { take } = createBudget(limits);
  /** By account; the one that had a slot last is the last. */
  const waiting = new Map<string, ((slot: Hold) => void)[]>();

  const beginWaiting = (): void => {
    for (const [account, begins] of waiting) {
      const slot = take(account, 1);
      if (!slot) continue;
      waiting.delete(account);
      begins.shift()?.(slot);
      if (begins.length > 0) waiting.set(account, begins);
    }
  };
  const waitForSlot = (account: string): Promise<Hold> =>
    new Promise((begin) => {
      waiting.set(account, [...(waiting.get(account) ?? []), begin]);
      beginWaiting();
    });

  return {
    run: async (account, work) => {
      const slot = await waitForSlot(account);
      try {
        return await work();
      } finally {
        slot.giveBack();
        beginWaiting();
      }
    },
  };
};
