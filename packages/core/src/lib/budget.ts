export type BudgetLimits = {
  readonly inAll: number;
  readonly perShare: number;
  /** In this time a whole share comes back, and the whole budget. It needs `now`. */
  readonly refillMs?: number;
};

/** What was taken. With `refillMs`, only time gives it back; a negative `more` is for what was not used. */
export type Hold = {
  /** False: refused, and nothing more is taken. */
  readonly more: (amount: number) => boolean;
  /** Safe to call more than once. */
  readonly giveBack: () => void;
};

export type Budget = {
  /** Undefined: refused, and nothing is taken. */
  readonly take: (who: string, amount: number) => Hold | undefined;
  /** What this account or network may still take: of its own share, and of what is free beyond what it has. */
  readonly left: (who: string) => Left;
};

export type Left = { readonly ofShare: number; readonly ofAll: number };

type Used = { amount: number; atMs: number };

/**
 * What all outside may cost together, in one unit (bytes held, bytes unpacked, milliseconds, slots), with a share for each
 * account or network. A share may grow while it has no more than is free: one leaves at least half to the others, the next
 * at least half of that, and so on.
 */
export const createBudget = (
  { inAll, perShare, refillMs }: BudgetLimits,
  now?: () => Date,
): Budget => {
  const all: Used = { amount: 0, atMs: 0 };
  /** The one that changed last is the last. */
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
  /** An owner that has taken nothing for this long is forgotten; otherwise each would leave an entry. */
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
