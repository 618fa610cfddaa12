import type { Amounts, Bounds, Write } from "../table.ts";
import type { Halves } from "./credits.ts";
import { balanceKey, type Entry, entryItem, NOTHING, usageKey } from "./items.ts";
import { lowLineAfter } from "./lines.ts";
import { changesOf, type Moved } from "./moves.ts";

/** First the entry, whose key only this step of this operation can have; then the totals; then the day's usage. */
export type Movement = readonly [entry: Write, balance: Write, ...usage: Write[]];

/**
 * Moves money and writes down why, or does neither. What is taken must be there at the moment of the write;
 * `available` narrows what the write may leave.
 */
export const move = (entered: Entry, available?: Bounds[string]): Movement => {
  const entry = { ...entered, moved: notNothing(entered.moved) };
  const changes = changesOf(entry.moved);
  const totals = {
    update: balanceKey(entry.account),
    add: changes,
    leaving: { ...notBelowZero(changes), ...(available && { available }) },
  };
  return [{ create: entryItem(entry) }, totals, ...usageBy(entry, changes)];
};

/** An entry need not say of what nothing moved. */
const notNothing = (moved: Moved): Moved =>
  Object.fromEntries(Object.entries(moved).filter(([, amount]) => amount !== 0));

const notBelowZero = (changes: Amounts): Bounds =>
  Object.fromEntries(
    Object.entries(changes)
      .filter(([, by]) => by < 0)
      .map(([total]) => [total, { atLeast: 0 }]),
  );

/** A day's usage counts what came in and went out, on the day the operation began; settling moves nothing there. */
const usageBy = ({ account, openedAt }: Entry, changes: Amounts): Write[] => {
  const counted = ["granted", "debited", "refunded"].flatMap((total) =>
    changes[total] ? [[total, changes[total]] as const] : [],
  );
  if (counted.length === 0) return [];
  const add = Object.fromEntries(counted);
  return [{ update: usageKey(account, openedAt), add, orCreate: true }];
};

export type Grant = {
  readonly id: string;
  readonly account: string;
  readonly at: string;
  readonly amount: Halves;
  readonly reason: string;
};

/** The balance of a new account, and where its first credits came from. */
export const openBalance = (grant: Grant): Write[] => {
  const [entry, , ...usage] = move(entryOf(grant));
  const totals = {
    ...NOTHING,
    available: grant.amount,
    granted: grant.amount,
    lowLine: lowLineAfter(grant.amount),
  };
  return [{ create: { ...balanceKey(grant.account), ...totals } }, entry, ...usage];
};

/** Gives credits and writes down why. The entry's key is the operation's: the same grant twice collides. */
export const grant = (given: Grant): Movement => {
  const [entry, , ...usage] = move(entryOf(given));
  const totals = {
    update: balanceKey(given.account),
    add: changesOf({ grant: given.amount }),
    set: { lowLine: lowLineAfter(given.amount) },
  };
  return [entry, totals, ...usage];
};

const entryOf = ({ id, account, at, amount, reason }: Grant): Entry => ({
  account,
  operation: id,
  openedAt: at,
  step: "grant",
  at,
  moved: { grant: amount },
  reason,
});
