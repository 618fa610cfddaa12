import { Failure } from "../lib/failure.ts";
import type { Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { emitEvent } from "../webhooks/items.ts";
import { type Halves, toCredits } from "./credits.ts";
import { type Balance, getBalance, type OperationOrigin } from "./items.ts";
import { move } from "./ledger.ts";
import { findCrossing } from "./thresholds.ts";

export type DebitRequest = OperationOrigin & {
  /** Held until the outcome is known, paid at once, or taken back by the operator. */
  readonly kind: "hold" | "charge" | "clawback";
  readonly amount: Halves;
  readonly reason: string;
};

/**
 * The writes of a debit, and the outbox events of the thresholds that it crosses. The entry is first. If the balance
 * refuses them, it has changed meanwhile and the caller builds them again.
 */
export const debit = async (
  world: World,
  { kind, amount, reason, ...origin }: DebitRequest,
): Promise<readonly [entry: Write, ...more: Write[]]> => {
  const balance = await getBalance(world.table, origin.account);
  if (balance.available < amount) throw createInsufficientCreditsFailure(amount, balance);
  const at = world.now().toISOString();
  const { crossed, bounds } = findCrossing(balance, amount);
  const entry = { ...origin, step: "debit" as const, at, moved: { [kind]: amount }, reason };
  const events = crossed.map(({ event, below }) =>
    emitEvent(world, origin.account, event, {
      account_id: origin.account,
      available: toCredits((balance.available - amount) as Halves),
      threshold: toCredits(below),
    }),
  );
  return [...move(entry, bounds), ...events];
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
