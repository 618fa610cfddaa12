import type { Bounds, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit, type OutboxWrite } from "../runtime/commit.ts";
import { emitEvent } from "../webhooks/items.ts";
import {
  type Balance,
  iterateShardedAccounts,
  type Reported,
  readStableBalance,
  type ShardedBalance,
  toReportedItem,
  toReportedKey,
} from "./balance.ts";
import { type Halves, toCredits } from "./credits.ts";
import { PRICES } from "./prices.ts";

/** The service emits `event` when the available credits fall below `below`. */
export type CreditThreshold = {
  readonly event: "credits.low" | "credits.depleted";
  readonly name: "low" | "depleted";
  readonly below: Halves;
};

const LOW_SHARE = 0.1;

/** The threshold is a tenth of the latest grant. */
export const getLowThreshold = (granted: Halves): Halves =>
  Math.floor(granted * LOW_SHARE) as Halves;

const getThresholds = ({ lowThreshold }: Balance): readonly CreditThreshold[] => [
  { event: "credits.low", name: "low", below: lowThreshold },
  // The remaining credits do not pay for one uncached verification.
  { event: "credits.depleted", name: "depleted", below: PRICES.verify },
];

export const emitCrossings = (
  world: World,
  account: string,
  crossed: readonly CreditThreshold[],
  left: number,
): readonly OutboxWrite[] =>
  crossed.map(({ event, below }) =>
    emitEvent(world, account, event, {
      account_id: account,
      available: toCredits(left as Halves),
      threshold: toCredits(below),
    }),
  );

/** The thresholds that a debit crosses, and the condition under which it crosses exactly these. */
export type ThresholdCrossing = {
  readonly crossed: readonly CreditThreshold[];
  readonly bounds: Bounds[string];
};

/**
 * The balance may change between the read and the write, and the service must report every crossing exactly once. So the table
 * refuses a write that leaves an amount on the wrong side of a threshold, and the balance is read again. A write that crosses a
 * threshold must leave exactly the amount that its event reports.
 */
export const findCrossing = (balance: Balance, amount: Halves): ThresholdCrossing => {
  const before = balance.available;
  const after = before - amount;
  const thresholds = getThresholds(balance);
  const crossed = thresholds.filter(({ below }) => after < below && below <= before);
  if (crossed.length > 0) return { crossed, bounds: { atLeast: after, atMost: after } };

  const remaining = thresholds.filter(({ below }) => below <= after).map(({ below }) => below);
  const alreadyCrossed = thresholds.filter(({ below }) => below > before).map(({ below }) => below);
  const atLeast = Math.max(0, ...remaining);
  const atMost = alreadyCrossed.length > 0 && { atMost: Math.min(...alreadyCrossed) - amount - 1 };
  return { crossed, bounds: { atLeast, ...atMost } };
};

/** The thresholds that a debit of a sharded balance crosses, and the report to store after the debit. */
type ThresholdReport = {
  readonly crossed: readonly CreditThreshold[];
  readonly after: Pick<Reported, "low" | "depleted">;
};

/**
 * Undefined when the debit changes nothing in the report. The debit that goes below a threshold crosses it; when debits of
 * different shards went below it together, the next debit does. The threshold can be crossed again after a debit found the
 * balance above it.
 */
export const findReport = (
  balance: Balance,
  reported: ThresholdReport["after"],
  amount: Halves,
): ThresholdReport | undefined => {
  const before = balance.available;
  const left = before - amount;
  const thresholds = getThresholds(balance);
  const crossed = thresholds.filter(
    ({ name, below }) => left < below && (below <= before || !reported[name]),
  );
  const after = toReported(balance, left);
  const isSame = after.low === reported.low && after.depleted === reported.depleted;
  return isSame && crossed.length === 0 ? undefined : { crossed, after };
};

const toReported = (balance: Balance, available: number): ThresholdReport["after"] => {
  const [low, depleted] = getThresholds(balance).map(({ below }) => available < below);
  return { low: low === true, depleted: depleted === true };
};

/** Builds the writes that store the report. The table refuses them if another process reported meanwhile. */
export const buildReport = (
  account: string,
  balance: ShardedBalance,
  amount: Halves,
): { readonly crossed: readonly CreditThreshold[]; readonly writes: readonly Write[] } => {
  const { reported } = balance;
  const before = reported ?? toReported(balance, balance.available);
  const report = findReport(balance, before, amount);
  const { crossed, after } = report ?? { crossed: [], after: before };
  // The account gets its second shard. Until now, each debit that crossed a threshold reported it.
  if (!reported)
    return { crossed, writes: [{ create: toReportedItem(account, { ...after, version: 1 }) }] };
  const { version } = reported;
  const change = {
    update: toReportedKey(account),
    set: after,
    add: { version: 1 },
    where: { version },
  };
  return { crossed, writes: report ? [change] : [] };
};

/**
 * Reports the thresholds that debits of several shards crossed together without a further debit. Reads only accounts with
 * several shards.
 */
export const reportThresholds = async (world: World): Promise<void> => {
  for await (const account of iterateShardedAccounts(world.table))
    await reportAccount(world, account);
};

const NOTHING = 0 as Halves;

const reportAccount = async (world: World, account: string): Promise<void> => {
  const { balance, isStable } = await readStableBalance(world.table, account);
  // A balance that changes during every read is busy, and the account's next debit reports.
  if (!isStable) return;
  const { crossed, writes } = buildReport(account, balance, NOTHING);
  const [proof, ...events] = emitCrossings(world, account, crossed, balance.available);
  // "refused": a debit reported the crossing meanwhile. After a lost reply the next run looks again, a minute later.
  if (proof) await commit(world, { proof, also: [...events, ...writes] });
};
