import { type BudgetLimits, createBudget, type Hold } from "../lib/budget.ts";

// A budget per process (slots, bytes) in which work waits for its share. Accounts take turns.

export type AccountSlots = {
  /** Runs the work as soon as the account's share of the budget allows this amount. */
  readonly run: <T>(account: string, work: () => Promise<T>, amount?: number) => Promise<T>;
};

type Waiting = { readonly amount: number; readonly begin: (hold: Hold) => void };

/** An account that uses its whole share waits without blocking other accounts. */
export const createAccountSlots = (limits: BudgetLimits): AccountSlots => {
  const { take } = createBudget(limits);
  /** Waiting work by account; the account that began work most recently is last. */
  const waiting = new Map<string, Waiting[]>();

  const beginWaiting = (): void => {
    for (const [account, own] of waiting) {
      const [first] = own;
      const hold = first && take(account, first.amount);
      if (!hold) continue;
      waiting.delete(account);
      own.shift();
      first.begin(hold);
      if (own.length > 0) waiting.set(account, own);
    }
  };
  const wait = (account: string, amount: number): Promise<Hold> =>
    new Promise((begin) => {
      const own = waiting.get(account) ?? [];
      own.push({ amount, begin });
      waiting.set(account, own);
      beginWaiting();
    });

  return {
    run: async (account, work, amount = 1) => {
      // One account alone may hold at most half of the budget.
      const most = Math.min(limits.perShare, limits.inAll);
      const hold = await wait(account, Math.min(amount, most));
      try {
        return await work();
      } finally {
        hold.giveBack();
        beginWaiting();
      }
    },
  };
};
