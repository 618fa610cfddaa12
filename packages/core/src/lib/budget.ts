export type BudgetLimits = {
  readonly inAll: number;
  readonly perShare: number;
  /** The time in which a whole share, and the whole budget, refills. It requires `now`. */
  readonly refillMs?: number;
};

/** A taken amount. With `refillMs`, only time returns it; a negative `more` returns an unused part. */
export type Hold = {
  /** False when the budget refuses the amount and takes nothing more. */
  readonly more: (amount: number) => boolean;
  /** Safe to call more than once. */
  readonly giveBack: () => void;
};

export type Budget = {
  /** Undefined when the budget refuses the amount; a refusal changes nothing. */
  readonly take: (who: string, amount: number) => Hold | undefined;
  /** The amounts that this account or network may still take: the rest of its share, and the free amount beyond what it holds. */
  readonly left: (who: string) => Left;
};

export type Left = { readonly ofShare: number; readonly ofAll: number };

type Used = { amount: number; atMs: number };

/**
 * A budget for all outside work, in one unit (bytes held, bytes unpacked, milliseconds, slots), with a share for each account
 * or network. A share may grow while it is no larger than the free amount: the first share leaves at least half to the others,
 * the next at least half of that, and so on.
 */
export const createBudget = (
  { inAll, perShare, refillMs }: BudgetLimits,
  now?: () => Date,
): Budget => {
  const all: Used = { amount: 0, atMs: 0 };
  /** Shares in the order of their last change, the latest last. */
  const shares = new Map<string, Used>();

  const refill = (used: Used, most: number, nowMs: number): number => {
    const backMs = Math.max(0, nowMs - used.atMs);
    if (refillMs !== undefined) used.amount -= Math.min(used.amount, (most * backMs) / refillMs);
    used.atMs = nowMs;
    return used.amount;
  };
  const readUsed = (who: string): { readonly own: number; readonly inUse: number } => {
    const nowMs = now?.().getTime() ?? 0;
    const used = shares.get(who);
    return { own: used ? refill(used, perShare, nowMs) : 0, inUse: refill(all, inAll, nowMs) };
  };
  /** Forgets each owner whose share has refilled; otherwise the map would keep an entry for every owner. */
  const forgetFull = (): void => {
    for (const [who, used] of shares) {
      if (refill(used, perShare, all.atMs) > 0) return;
      shares.delete(who);
    }
  };
  const change = (who: string, amount: number): void => {
    const used = shares.get(who) ?? { amount: 0, atMs: all.atMs };
    used.amount = Math.max(0, used.amount + amount);
    all.amount = Math.max(0, all.amount + amount);
    shares.delete(who);
    if (used.amount > 0) shares.set(who, used);
    if (refillMs !== undefined) forgetFull();
  };
  const left = (who: string): Left => {
    const { own, inUse } = readUsed(who);
    return { ofShare: perShare - own, ofAll: inAll - inUse - own };
  };
  const grow = (who: string, amount: number): boolean => {
    const { ofShare, ofAll } = left(who);
    if (amount > 0 && amount > Math.min(ofShare, ofAll)) return false;
    change(who, amount);
    return true;
  };

  const take = (who: string, amount: number): Hold | undefined => {
    if (!grow(who, amount)) return undefined;
    let held = amount;
    let isHeld = true;
    return {
      more: (by) => {
        if (!isHeld || !grow(who, Math.max(by, -held))) return false;
        held = Math.max(0, held + by);
        return true;
      },
      giveBack: () => {
        if (isHeld && refillMs === undefined) change(who, -held);
        isHeld = false;
      },
    };
  };
  return { take, left };
};
