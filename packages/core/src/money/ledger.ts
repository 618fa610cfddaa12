import type { Create, Write } from "../ports/table.ts";
import { buildShardUpdate, toBalanceKey, ZERO_TOTALS } from "./balance.ts";
import type { Halves } from "./credits.ts";
import { type LedgerEntry, toEntryItem, toUsageChanges, toUsageKey } from "./items.ts";
import { addUp, type MovedAmounts, toBalanceChanges } from "./moves.ts";
import { findPaidOperation, type Reason } from "./reasons.ts";
import { buildSpendingWrites, getSpent, type SpendingLimit } from "./spending.ts";
import { getLowThreshold } from "./thresholds.ts";

/** The entry first, whose key is unique to this step of this operation; then the totals; then the usage and the spending. */
export type MovementWrites = readonly [entry: Create, balance: Write, ...sums: Write[]];

/**
 * Moves credits and records the reason, or does neither. `shard` pays now, or paid the operation earlier, and must contain the
 * amount at the time of the write. `limits`: the limits of a debit.
 */
export const move = (
  request: LedgerEntry,
  shard = 0,
  limits?: readonly SpendingLimit[],
): MovementWrites => {
  const entry = toCompleteEntry(request);
  return [
    { create: toEntryItem(entry) },
    buildShardUpdate(entry.account, shard, toBalanceChanges(entry.moved)),
    ...buildSums(entry, toUsageChanges(entry), shard, limits),
  ];
};

/** Writes several steps of one operation in one transaction. A transaction writes each item once, so the totals get the sum. */
export const moveAll = (requests: readonly LedgerEntry[], shard = 0): readonly Write[] => {
  const [first, ...others] = requests.map(toCompleteEntry);
  if (!first) return [];
  const entries = [first, ...others];
  const changes = addUp(entries.map(({ moved }) => toBalanceChanges(moved)));
  return [
    ...entries.map((entry) => ({ create: toEntryItem(entry) })),
    buildShardUpdate(first.account, shard, changes),
    ...buildSums(first, addUp(entries.map(toUsageChanges)), shard),
  ];
};

const toCompleteEntry = (request: LedgerEntry): LedgerEntry => {
  const paidFor = request.paidFor ?? findPaidOperation(request.reason);
  return { ...request, moved: omitZeroAmounts(request.moved), ...(paidFor && { paidFor }) };
};

const omitZeroAmounts = (moved: MovedAmounts): MovedAmounts =>
  Object.fromEntries(Object.entries(moved).filter(([, amount]) => amount !== 0));

/** Usage counts grants, debits and refunds on the day when the operation began; a settle changes none of them. */
const buildSums = (
  entry: Pick<LedgerEntry, "account" | "openedAt" | "countedIn">,
  add: Readonly<Record<string, number>>,
  shard: number,
  limits?: readonly SpendingLimit[],
): Write[] => {
  if (Object.keys(add).length === 0) return [];
  const usage = toUsageKey(entry.account, entry.openedAt, shard);
  return [
    { update: usage, add, orCreate: true },
    ...buildSpendingWrites(entry, getSpent(add), limits),
  ];
};

export type GrantRequest = {
  readonly id: string;
  readonly account: string;
  readonly at: string;
  readonly amount: Halves;
  readonly reason: Reason;
};

export const openBalance = (request: GrantRequest): Write[] => {
  const [entry, , ...usage] = move(toGrantEntry(request));
  const totals = {
    ...ZERO_TOTALS,
    available: request.amount,
    granted: request.amount,
    lowThreshold: getLowThreshold(request.amount),
  };
  return [{ create: { ...toBalanceKey(request.account), ...totals } }, entry, ...usage];
};

/** Grants credits and records the reason. The entry's key derives from the operation, so a repeated grant is written once. */
export const grant = (request: GrantRequest): MovementWrites => {
  const [entry, , ...usage] = move(toGrantEntry(request));
  const totals = buildShardUpdate(request.account, 0, toBalanceChanges({ grant: request.amount }));
  return [entry, { ...totals, set: { lowThreshold: getLowThreshold(request.amount) } }, ...usage];
};

const toGrantEntry = ({ id, account, at, amount, reason }: GrantRequest): LedgerEntry => ({
  account,
  operation: id,
  openedAt: at,
  step: "grant",
  at,
  moved: { grant: amount },
  reason,
  countedIn: undefined,
});
