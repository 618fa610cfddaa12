import { Failure } from "../lib/failure.ts";
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
import {
  buildReport,
  type CreditThreshold,
  emitCrossings,
  findCrossing,
  findReport,
} from "./thresholds.ts";

export type DebitRequest = OperationOrigin & {
  /** Decides how many shards the balance may have. */
  readonly plan: PlanId;
  /** Held until the outcome is known, paid at once, or taken back by the operator. */
  readonly kind: "hold" | "charge" | "clawback";
  readonly amount: Halves;
  readonly reason: Reason;
  /** A response states what the debit leaves. */
  readonly isStated?: boolean;
};

/**
 * `shard`: what pays. Held credits are settled or released there, and refunds go there. `left`: what a response states.
 * Of several shards it is the balance that was read before the debit, less the debit. Of one it is exact: any other
 * balance refuses the write. Absent where the committed transaction returns the balance instead (`findLeft`).
 */
export type Debit = {
  readonly shard: number;
  readonly left?: Halves;
  readonly writes: readonly [entry: Create, ...more: Write[]];
};

/**
 * The writes of a debit, and the outbox events of the thresholds that it crosses. The entry is first. If the balance
 * refuses them, it has changed meanwhile and the caller builds them again.
 */
export const debit = async (
  world: World,
  { kind, amount, reason, plan, isStated, ...origin }: DebitRequest,
): Promise<Debit> => {
  const { account } = origin;
  const { balance, funding } = await fundDebit(world, account, plan, amount);
  const { shard, draws } = funding;
  const at = world.now().toISOString();
  const moved = { [kind]: amount };
  const [entry, , ...usage] = move({ ...origin, step: "debit" as const, at, moved, reason }, shard);
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
    writes: [entry, paying, ...buildDraws(account, draws), ...usage, ...report.writes, ...events],
  };
};

/** Each attempt moves the credits of a few shards, so a balance that others drain meanwhile is gathered as well. */
const GATHERS_MAX = 60;

/** A shard that can pay. If the credits are spread over too many, they are moved to one of them first. */
const fundDebit = async (
  world: World,
  account: string,
  plan: PlanId,
  amount: Halves,
): Promise<{ readonly balance: ShardedBalance; readonly funding: Funding }> => {
  let isSpread = false;
  for (let gathers = 0; gathers < GATHERS_MAX; gathers++) {
    // An earlier release may have left shards: what one item cannot pay is looked for in all of them.
    const isOneItem = gathers === 0 && !makesShards(world.settings);
    const balance = await readBalance(world.table, account, isOneItem);
    if (balance.available < amount) await assertSufficient(world, account, amount);
    const count = countShards(plan, balance.available, world.settings);
    const funding = planFunding(balance, amount, count, world.random);
    const spread = funding.draws.length > 0 ? planSpread(account, balance, count) : [];
    if (spread.length > 0 && !isSpread) {
      isSpread = true;
      // Busy: another debit spreads them now, and this one can do without.
      await world.table.transact(spread).catch(() => undefined);
      continue;
    }
    if (funding.isEnough) return { balance, funding };
    // Whatever the outcome: the next read shows it.
    if (funding.draws.length > 0)
      await world.table.transact([
        buildPayingUpdate(account, funding, {}),
        ...buildDraws(account, funding.draws),
      ]);
  }
  throw createBusyFailure();
};

/** One read may see a shard before and another one after credits moved between them, and so too few. */
const assertSufficient = async (world: World, account: string, amount: Halves): Promise<void> => {
  const { balance, isStable } = await readStableBalance(world.table, account);
  if (balance.available >= amount) return;
  if (!isStable) throw createBusyFailure();
  throw createInsufficientCreditsFailure(amount, balance);
};

const createBusyFailure = (): Failure =>
  new Failure("UNAVAILABLE", "nothing_charged", "Too many concurrent requests for this account.");

type Report = {
  readonly crossed: readonly CreditThreshold[];
  /** The credits that are left. */
  readonly left: number;
  readonly bounds?: undefined;
  readonly writes: readonly Write[];
};

/**
 * The bounds of one shard cannot show when their sum crosses a threshold. So an account with several shards stores what
 * was reported. A balance that others move during every read is left to the next debit, or to the reconciler.
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
