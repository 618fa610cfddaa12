import { Failure } from "../failure.ts";
import type { Write } from "../table.ts";
import { announce } from "../webhooks/items.ts";
import type { World } from "../world.ts";
import { type Halves, toCredits } from "./credits.ts";
import { type Balance, balanceOf, type Origin } from "./items.ts";
import { move } from "./ledger.ts";
import { crossingOf } from "./lines.ts";

export type Debit = Origin & {
  /** Held until it is known what comes of it, paid for good at once, or taken back by the operator. */
  readonly as: "hold" | "charge" | "clawback";
  readonly amount: Halves;
  readonly reason: string;
};

/**
 * The writes that take the money, and the news that it runs low where this very debit makes it so. Their first is
 * the entry. Refused by the balance, they are made anew: it moved meanwhile.
 */
export const debit = async (
  world: World,
  { as, amount, reason, ...origin }: Debit,
): Promise<readonly [entry: Write, ...more: Write[]]> => {
  const balance = await balanceOf(world.table, origin.account);
  if (balance.available < amount) throw tooPoor(amount, balance);
  const at = world.now().toISOString();
  const { crossed, leaving } = crossingOf(balance, amount);
  const entry = { ...origin, step: "debit" as const, at, moved: { [as]: amount }, reason };
  const news = crossed.map(({ event, below }) =>
    announce(world, origin.account, event, {
      account_id: origin.account,
      available: toCredits((balance.available - amount) as Halves),
      threshold: toCredits(below),
    }),
  );
  return [...move(entry, leaving), ...news];
};

const tooPoor = (needed: Halves, { available }: Balance): Failure => {
  const what = `This costs ${amountOf(needed)} and the account has ${toCredits(available)}.`;
  return new Failure("INSUFFICIENT_CREDITS", "nothing_charged", what, {
    details: { needed: toCredits(needed), available: toCredits(available) },
  });
};

const amountOf = (amount: Halves): string => {
  const credits = toCredits(amount);
  return `${credits} credit${credits === 1 ? "" : "s"}`;
};
