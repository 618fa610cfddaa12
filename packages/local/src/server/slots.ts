import { type BudgetLimits, createBudget, type Hold } from "@mailproof/core/lib/budget";
import { Failure } from "@mailproof/core/lib/failure";

/** Takes one slot, or a number of bytes, for an account or a network. Throws the caller's refusal if none is free. */
export type TakeShare = (who: string, amount?: number) => Hold;

/** `what` is a plural noun. */
export const createShares = (
  what: string,
  limits: BudgetLimits,
  whose = "for this account",
): TakeShare => {
  const { take, left } = createBudget(limits);
  return (who, amount = 1) => {
    const hold = take(who, amount);
    if (hold) return hold;
    throw left(who).ofShare < amount
      ? createTooManyError(`${what} ${whose}`, limits.perShare)
      : createNoneLeftError(what);
  };
};

const RETRY_AFTER_MS = 10_000;

const createTooManyError = (what: string, most: number) => {
  const message = `Too many concurrent ${what}; at most ${most} at a time.`;
  return new Failure("RATE_LIMITED", "nothing_charged", message, { retryAfterMs: RETRY_AFTER_MS });
};

const createNoneLeftError = (what: string) =>
  new Failure("UNAVAILABLE", "nothing_charged", `Too many concurrent ${what} right now.`);
