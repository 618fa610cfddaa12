import { createUnavailableFailure } from "../lib/failure.ts";
import { buildSpendingStart } from "../money/spending.ts";
import type { World } from "../ports/world.ts";
import { type Account, toAccountKey } from "./account-items.ts";

/** Charges change the counter during the request, so it is attempted five times. */
const ATTEMPTS_MAX = 5;

/** Replaces the limits of the account. A monthly limit includes what the account spent in this month before. */
export const setAccountLimits = async (
  world: World,
  account: string,
  { monthlyHalves, area }: Pick<Account, "monthlyHalves" | "area">,
): Promise<void> => {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const { outcome } = await world.table.transact([
      { update: toAccountKey(account), set: { monthlyHalves, area } },
      ...(monthlyHalves === undefined
        ? []
        : [await buildSpendingStart(world.table, account, world.now())]),
    ]);
    if (outcome === "committed") return;
    if (outcome === "ambiguous") break;
  }
  throw createUnavailableFailure("It is not known whether the limits were set. Send this again.");
};
