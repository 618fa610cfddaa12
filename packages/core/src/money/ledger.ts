import type { Amounts, Bounds, Write } from "../ports/table.ts";
import type { Halves } from "./credits.ts";
import { type LedgerEntry, toBalanceKey, toEntryItem, toUsageKey, ZERO_TOTALS } from "./items.ts";
import { type MovedAmounts, toBalanceChanges } from "./moves.ts";
import { getLowThreshold } from "./thresholds.ts";

/** First the entry, whose key only this step of this operation can have; then the totals; then the day's usage. */
export type MovementWrites = readonly [entry: Write, balance: Write, ...usage: Write[]];

/**
 * Moves money and writes down why, or does neither. What is taken must be there at the moment of the write;
 * `available` narrows what the write may leave.
 */
export const move = (request: LedgerEntry, available?: Bounds[string]): MovementWrites => {
  const entry = { ...request, moved: omitZeroAmounts(request.moved) };
  const changes = toBalanceChanges(entry.moved);
  const totals = {
    update: toBalanceKey(entry.account),
    add: changes,
    bounds: { ...toLowerBounds(changes), ...(available && { available }) },
  };
  return [{ create: toEntryItem(entry) }, totals, ...buildUsageWrites(entry, changes)];
};

/** An entry need not say of what nothing moved. */
const omitZeroAmounts = (moved: MovedAmounts): MovedAmounts =>
  Object.fromEntries(Object.entries(moved).filter(([, amount]) => amount !== 0));

const toLowerBounds = (changes: Amounts): Bounds =>
  Object.fromEntries(
    Object.entries(changes)
      .filter(([, by]) => by < 0)
      .map(([total]) => [total, { atLeast: 0 }]),
  );

/** A day's usage counts what came in and went out, on the day the operation began; settling moves nothing there. */
const buildUsageWrites = ({ account, openedAt }: LedgerEntry, changes: Amounts): Write[] => {
  const counted = ["granted", "debited", "refunded"].flatMap((total) =>
    changes[total] ? [[total, changes[total]] as const] : [],
  );
  if (counted.length === 0) return [];
  const add = Object.fromEntries(counted);
  return [{ update: toUsageKey(account, openedAt), add, orCreate: true }];
};

export type GrantRequest = {
  readonly id: string;
  readonly account: string;
  readonly at: string;
  readonly amount: Halves;
  readonly reason: string;
};

/** The balance of a new account, and where its first credits came from. */
export const openBalance = (request: GrantRequest): Write[] => {
  const [entry, , ...usage] = move(toGrantEntry(request));
  const totals = {
    ...ZERO_TOTALS,
    available: request.amount,
    granted: request.amount,
    lowLine: getLowThreshold(request.amount),
  };
  return [{ create: { ...toBalanceKey(request.account), ...totals } }, entry, ...usage];
};

/** Gives credits and writes down why. The entry's key is the operation's: the same grant twice collides. */
export const grant = (request: GrantRequest): MovementWrites => {
  const [entry, , ...usage] = move(toGrantEntry(request));
  const totals = {
    update: toBalanceKey(request.account),
    add: toBalanceChanges({ grant: request.amount }),
    set: { lowLine: getLowThreshold(request.amount) },
  };
  return [entry, totals, ...usage];
};

const toGrantEntry = ({ id, account, at, amount, reason }: GrantRequest): LedgerEntry => ({
  account,
  operation: id,
  openedAt: at,
  step: "grant",
  at,
  moved: { grant: amount },
  reason,
});
