import * as v from "valibot";
import type { Item, Key, Write } from "../ports/table.ts";
import { StoredHalves, toShardSuffix } from "./balance.ts";
import type { Halves } from "./credits.ts";
import { MOVE_KINDS, type MovedAmounts, type MoveKind, toBalanceChanges } from "./moves.ts";
import { PAID_OPERATIONS, type PaidOperation, REASONS } from "./reasons.ts";

// Layout. The ledger has a partition per month, so a busy account never outgrows one. Usage has as many shards as the balance:
// each charge writes both, so they are busy together.
//
//   pk                          sk                              content
//   LEDGER#<account>#<yyyy-mm>  <opened at>#<operation>~<step>  one immutable entry
//   USAGE#<account>             <yyyy-mm-dd>                    the sums of the entries of one day, of shard 0
//   USAGE#<account>             <yyyy-mm-dd>#<nn>               the same sums of another shard of the balance
//
// The key of an entry derives only from its operation and step, so a step is written at most once.

/** The counters of a month's spending that the debit added to (spending.ts). Absent when it added to none, and in 0.2.0. */
export const CountedIn = v.optional(v.pipe(v.array(v.string()), v.readonly()));

export type OperationOrigin = {
  readonly account: string;
  readonly operation: string;
  readonly openedAt: string;
  readonly countedIn: v.InferOutput<typeof CountedIn>;
};

export type EntryStep =
  | "grant"
  | "debit"
  | "end"
  | `chunk-${number}`
  | `lost-${number}-${number}`
  | "unasked"
  | "unreached"
  | "cancel";

const LedgerEntry = v.object({
  account: v.string(),
  operation: v.string(),
  openedAt: v.string(),
  step: v.string(),
  at: v.string(),
  moved: v.record(v.picklist(MOVE_KINDS), StoredHalves),
  reason: v.picklist(REASONS),
  /** Absent in grants and clawbacks. */
  paidFor: v.optional(v.picklist(PAID_OPERATIONS)),
  countedIn: CountedIn,
  /** The fencing token of the process that wrote the entry. Absent when only one process could write it. */
  token: v.optional(v.string()),
});

export type LedgerEntry = OperationOrigin &
  Omit<Readonly<v.InferOutput<typeof LedgerEntry>>, keyof OperationOrigin | "step" | "moved"> & {
    readonly step: EntryStep;
    readonly moved: MovedAmounts;
  };

/** Creates the entry that ends an operation. Its key is the same for every outcome, so an operation cannot end twice. */
export const createEndEntry = (
  origin: OperationOrigin,
  end: Pick<LedgerEntry, "moved" | "reason" | "paidFor"> & {
    readonly at: Date;
    readonly token: string;
  },
): LedgerEntry => ({ ...origin, ...end, step: "end", at: end.at.toISOString() });

const toEntryKey = ({ account, operation, openedAt, step }: LedgerEntry): Key => ({
  pk: toLedgerPartition(account, openedAt.slice(0, 7)),
  sk: `${openedAt}#${operation}~${step}`,
});
export const toEntryItem = (entry: LedgerEntry): Item => ({
  ...toEntryKey(entry),
  ...entry,
});
export const readEntry = (item: Item): LedgerEntry => v.parse(LedgerEntry, item) as LedgerEntry;

export const findMovedAmounts = (writes: readonly Write[]): readonly [MoveKind, Halves][] =>
  writes.flatMap((write) =>
    "create" in write && write.create.pk.startsWith(LEDGER_PREFIX)
      ? (Object.entries(readEntry(write.create).moved) as [MoveKind, Halves][])
      : [],
  );

export const toMovementId = (operation: string, step: EntryStep, kind: MoveKind): string =>
  `${operation}.${step}.${kind}`;

const LEDGER_PREFIX = "LEDGER#";

export const toLedgerPartition = (account: string, month: string): string =>
  `LEDGER#${account}#${month}`;

/** The totals that usage counts. A settle changes none of them. */
export const USAGE_TOTALS = ["granted", "debited", "refunded"] as const;
type UsageTotal = (typeof USAGE_TOTALS)[number];

type OperationField = `${OperationTotal}_${PaidOperation}`;
type OperationTotal = Exclude<UsageTotal, "granted">;
export type UsageField = UsageTotal | OperationField;

export const toOperationField = (total: OperationTotal, paidFor: PaidOperation): OperationField =>
  `${total}_${paidFor}`;

export const USAGE_FIELDS: readonly UsageField[] = [
  ...USAGE_TOTALS,
  ...PAID_OPERATIONS.flatMap((paidFor) => [
    toOperationField("debited", paidFor),
    toOperationField("refunded", paidFor),
  ]),
];

export const toUsageChanges = ({
  moved,
  paidFor,
}: Pick<LedgerEntry, "moved" | "paidFor">): Partial<Record<UsageField, number>> => {
  const changes = toBalanceChanges(moved);
  const add: Partial<Record<UsageField, number>> = {};
  for (const total of USAGE_TOTALS) {
    const by = changes[total];
    if (!by) continue;
    add[total] = by;
    if (paidFor && total !== "granted") add[toOperationField(total, paidFor)] = by;
  }
  return add;
};

const UsageSum = v.optional(StoredHalves, 0 as Halves);
const Usage = v.object({
  sk: v.string(),
  ...(Object.fromEntries(USAGE_FIELDS.map((field) => [field, UsageSum])) as Record<
    UsageField,
    typeof UsageSum
  >),
});

export const toUsagePartition = (account: string): string => `USAGE#${account}`;
export const toUsageKey = (account: string, at: string, shard = 0): Key => ({
  pk: toUsagePartition(account),
  sk: toDayShard(at, shard),
});
export const toDayShard = (at: string, shard: number): string =>
  `${at.slice(0, DAY_LENGTH)}${shard === 0 ? "" : `#${toShardSuffix(shard)}`}`;
export const toDayShards = ({ from, to }: { readonly from: string; readonly to: string }) => ({
  from,
  to: `${to}#~`,
});
export const DAY_LENGTH = "yyyy-mm-dd".length;
export const MONTH_LENGTH = "yyyy-mm".length;
export const readUsage = (item: Item) => v.parse(Usage, item);
