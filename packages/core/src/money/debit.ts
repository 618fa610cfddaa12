import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import type { Create, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type Balance, readBalance, readStableBalance, type ShardedBalance } from "./balance.ts";
import { formatCredits, type Halves, toCredits } from "./credits.ts";
import {
  buildDraws,
  buildPayingUpdate,
  countShards,
  type Funding,
  makesShards,
  planFunding,
  planSpread,
} from "./funding.ts";
import type { OperationOrigin } from "./items.ts";
import { move } from "./ledger.ts";
import { toBalanceChanges } from "./moves.ts";
import type { PlanId } from "./plans.ts";
import type { Reason } from "./reasons.ts";
import { assertWithinLimits, type SpendingLimit } from "./spending.ts";
import {
  buildReport,
  type CreditThreshold,
  emitCrossings,
  findCrossing,
  findReport,
} from "./thresholds.ts";

export type DebitRequest = OperationOrigin & {
  /** The plan limits the number of the balance's shards. */
  readonly plan: PlanId;
  /** A hold waits for the outcome, a charge is paid at once, and the operator makes a clawback. */
  readonly kind: "hold" | "charge" | "clawback";
  readonly amount: Halves;
  readonly reason: Reason;
  readonly isStated?: boolean;
  /** The limits of the payer's counters. Left out: none. */
  readonly limits?: readonly SpendingLimit[];
};

/**
 * `shard` pays the debit; settlement, release and refunds of the debit change the same shard. `left` is the remaining balance
 * for the response: exact with one shard, because any other balance refuses the write; with several shards, the balance read
 * before the debit minus the debit. Absent when the committed transaction returns the balance (`findLeft`).
 */
export type Debit = {
  readonly shard: number;
  readonly left?: Halves;
  readonly writes: readonly [entry: Create, ...more: Write[]];
};

/**
 * Builds the writes of a debit, the entry first, and the outbox events of the thresholds that it crosses. When the balance has
 * changed since, the table refuses the writes and the caller builds them again.
 */
export const debit = async (
  world: World,
  { kind, amount, reason, plan, isStated, limits = [], ...origin }: DebitRequest,
): Promise<Debit> => {
  const { account } = origin;
  await assertWithinLimits(world.table, account, amount, limits);
  const { balance, funding } = await fundDebit(world, account, plan, amount);
  const { shard, draws } = funding;
  const at = world.now().toISOString();
  const moved = { [kind]: amount };
  const debited = { ...origin, step: "debit" as const, at, moved, reason };
  const [entry, , ...sums] = move(debited, shard, limits);
  const isAlone = shard === 0 && balance.shards.length === 1;
  const left = (balance.available - amount) as Halves;
  const report = isAlone
    ? { ...findCrossing(balance, amount), left, writes: [] }
    : await reportCrossing(world, account, balance, amount);
  const events = emitCrossings(world, account, report.crossed, report.left);
  const isReturned = isAlone && world.table.returnsItems;
  const isExact = isStated && isAlone && !isReturned;
  const bounds = isExact ? { atLeast: left, atMost: left } : report.bounds;
  const paying = buildPayingUpdate(account, funding, toBalanceChanges(moved), bounds);
  return {
    shard,
    ...(isStated && !isReturned && { left }),
    writes: [entry, paying, ...buildDraws(account, draws), ...sums, ...report.writes, ...events],
  };
};

/** Each attempt moves the credits of a few shards. The limit also covers a balance that other requests reduce meanwhile. */
const GATHERS_MAX = 60;

/** Finds a shard that can pay. If too many shards share the credits, it first moves them to one shard. */
const fundDebit = async (
  world: World,
  account: string,
  plan: PlanId,
  amount: Halves,
): Promise<{ readonly balance: ShardedBalance; readonly funding: Funding }> => {
  let isSpread = false;
  for (let gathers = 0; gathers < GATHERS_MAX; gathers++) {
    // An earlier release may have left shards: when one item cannot pay, look in all of them.
    const isOneItem = gathers === 0 && !makesShards(world.settings);
    const balance = await readBalance(world.table, account, isOneItem);
    if (balance.available < amount) await assertSufficient(world, account, amount);
    const count = countShards(plan, balance.available, world.settings);
    const funding = planFunding(balance, amount, count, world.random);
    const spread = funding.draws.length > 0 ? planSpread(account, balance, count) : [];
    if (spread.length > 0 && !isSpread) {
      isSpread = true;
      // A conflict means that another debit spreads the credits now, and this debit can continue without.
      await world.table.transact(spread).catch(() => undefined);
      continue;
    }
    if (funding.isEnough) return { balance, funding };
    // The outcome does not matter: the next read shows it.
    if (funding.draws.length > 0)
      await world.table.transact([
        buildPayingUpdate(account, funding, {}),
        ...buildDraws(account, funding.draws),
      ]);
  }
  throw createBusyFailure();
};

/** A single read may see one shard before and another shard after a move of credits, and so count too few. */
const assertSufficient = async (world: World, account: string, amount: Halves): Promise<void> => {
  const { balance, isStable } = await readStableBalance(world.table, account);
  if (balance.available >= amount) return;
  if (!isStable) throw createBusyFailure();
  throw createInsufficientCreditsFailure(amount, balance);
};

const createBusyFailure = (): Failure =>
  createUnavailableFailure("Too many concurrent requests for this account.");

type Report = {
  readonly crossed: readonly CreditThreshold[];
  readonly left: number;
  readonly bounds?: undefined;
  readonly writes: readonly Write[];
};

/**
 * The bounds of one shard cannot show that the sum of all shards crosses a threshold, so an account with several shards stores
 * its reports. If other requests change the balance during every read, the next debit or the reconciler reports.
 */
const reportCrossing = async (
  world: World,
  account: string,
  seen: ShardedBalance,
  amount: Halves,
): Promise<Report> => {
  if (seen.reported && !findReport(seen, seen.reported, amount)) return NO_REPORT;
  const { balance, isStable } = await readStableBalance(world.table, account);
  if (!isStable && balance.reported) return NO_REPORT;
  return { ...buildReport(account, balance, amount), left: balance.available - amount };
};

const NO_REPORT: Report = { crossed: [], left: 0, writes: [] };

const createInsufficientCreditsFailure = (needed: Halves, { available }: Balance): Failure => {
  const what = `This costs ${formatCredits(needed)} and the account has ${toCredits(available)}.`;
  return new Failure("INSUFFICIENT_CREDITS", "nothing_charged", what, {
    details: { needed: toCredits(needed), available: toCredits(available) },
  });
};
