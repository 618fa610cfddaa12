import { Failure } from "../lib/failure.ts";
import type { Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { emitEvent } from "../webhooks/items.ts";
import { type Halves, toCredits } from "./credits.ts";
import { type Balance, getBalance, type OperationOrigin } from "./items.ts";
import { move } from "./ledger.ts";
import { findCrossing } from "./thresholds.ts";

export type DebitRequest = OperationOrigin & {
  /** Held until it is known what comes of it, paid for good at once, or taken back by the operator. */
  readonly kind: "hold" | "charge" | "clawback";
  readonly amount: Halves;
  readonly reason: string;
};

/**
 * The writes that take the money, and the news that it runs low where this very debit makes it so. Their first is
 * the entry. Refused by the balance, they are made anew: it moved meanwhile.
 */
export const debit = async (
  world: World,
  { kind, amount, reason, ...origin }: DebitRequest,
): Promise<readonly [entry: Write, ...more: Write[]]> => {
  const balance = await getBalance(world.table, origin.account);
  if (balance.available < amount) throw createInsufficientCreditsFailure(amount, balance);
  const at = world.now().toISOString();
  const { crossed, bounds: leaving } = findCrossing(balance, amount);
  const entry = { ...origin, step: "debit" as const, at, moved: { [kind]: amount }, reason };
  const events = crossed.map(({ event, below }) =>
    emitEvent(world, origin.account, event, {
      account_id: origin.account,
      available: toCredits((balance.available - amount) as Halves),
      threshold: toCredits(below),
    }),
  );
  return [...move(entry, leaving), ...events];
};

const createInsufficientCreditsFailure = (needed: Halves, { available }: Balance): Failure => {
  const what = `This costs ${formatAmount(needed)} and the account has ${toCredits(available)}.`;
  return new Failure("INSUFFICIENT_CREDITS", "nothing_charged", what, {
    details: { needed: toCredits(needed), available: toCredits(available) },
  });
};

const formatAmount = (amount: Halves): string => {
  const credits = toCredits(amount);
  return `${credits} credit${credits === 1 ? "" : "s"}`;
};
