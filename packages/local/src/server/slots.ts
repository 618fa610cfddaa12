import { Failure } from "@mailproof/core/lib/failure";

export type SlotLimits = { readonly perAccount: number; readonly inAll: number };

/** Releases the slot; safe to call more than once. */
export type Release = () => void;

/**
 * Counts operations in progress, per account and in total. An account may begin another while it holds fewer than are
 * free, so one account leaves at least half to the others, the next at least half of that, and so on. `what` is a plural
 * noun.
 */
export const createSlots = (what: string, limits: SlotLimits) => {
  const held = new Map<string, number>();
  let all = 0;
  const change = (account: string, by: 1 | -1): void => {
    all += by;
    const count = (held.get(account) ?? 0) + by;
    if (count === 0) held.delete(account);
    else held.set(account, count);
  };

  return {
    acquireSlot: (account: string): Release => {
      const count = held.get(account) ?? 0;
      if (count >= limits.perAccount) throw createTooManyError(what, limits.perAccount);
      if (count >= limits.inAll - all) throw createNoSlotError(what);
      change(account, 1);
      let isHeld = true;
      return () => {
        if (isHeld) change(account, -1);
        isHeld = false;
      };
    },
  };
};

export type Slots = ReturnType<typeof createSlots>;

const RETRY_AFTER_MS = 10_000;

const createTooManyError = (what: string, most: number) => {
  const message = `Too many concurrent ${what} for this account; at most ${most} at a time.`;
  return new Failure("RATE_LIMITED", "nothing_charged", message, { retryAfterMs: RETRY_AFTER_MS });
};

const createNoSlotError = (what: string) =>
  new Failure("UNAVAILABLE", "nothing_charged", `Too many concurrent ${what} right now.`);
