import type { Caller } from "@mailproof/api/http/endpoint";
import { type BudgetLimits, createBudget, type Hold } from "@mailproof/core/lib/budget";
import { Failure } from "@mailproof/core/lib/failure";
import type { ConnectionLimits } from "./connections.ts";

/** Acquires one slot, or a number of bytes, for an account or a network. Throws the caller's refusal if no slot is free. */
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

/**
 * A connection with a request in progress makes no room for another, so an account may not have all of them in progress:
 * a verification at a slow host takes up to a minute.
 */
const shareRequests = ({ connectionsMax }: ConnectionLimits): BudgetLimits => ({
  perShare: Math.ceil(connectionsMax / 2),
  inAll: connectionsMax,
});

/** Limits for visitors: few requests per network, and most slots stay free for accounts, because strangers know public keys. */
const shareVisits = ({ connectionsMax }: ConnectionLimits): BudgetLimits => ({
  perShare: 8,
  inAll: Math.ceil(connectionsMax / 4),
});

type SlotOwner = Pick<Caller, "account" | "visitor">;

/** The owner of a share of the slots: the account, or the network of a visitor. */
export const getSlotOwner = ({ account, visitor }: SlotOwner): string => visitor?.id ?? account;

export const createRequestSlots = (limits: ConnectionLimits): ((caller: SlotOwner) => Hold) => {
  const ofAccounts = createShares("requests", shareRequests(limits));
  const ofVisitors = createShares("requests", shareVisits(limits), "from your network");
  return (caller) => (caller.visitor ? ofVisitors : ofAccounts)(getSlotOwner(caller));
};
