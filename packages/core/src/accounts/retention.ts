import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import type { Payer } from "../money/payer.ts";
import { PLANS } from "../money/plans.ts";
import type { Table } from "../ports/table.ts";
import { toAccountKey } from "./account-items.ts";

/** The retention that an account may choose. The service stores a list for at most 100 days on any plan. */
export const RETENTION_DAYS = { least: 1, most: 100 } as const;

export const getRetentionDays = ({
  plan,
  retentionDays = RETENTION_DAYS.most,
}: Pick<Payer, "plan" | "retentionDays">): number =>
  Math.min(PLANS[plan].retentionDays, retentionDays);

export const getRetentionSeconds = (payer: Pick<Payer, "plan" | "retentionDays">): number =>
  getRetentionDays(payer) * 86_400;

/** Undefined days restore the plan's retention. */
export const setRetention = async (
  table: Table,
  account: string,
  days: number | undefined,
): Promise<void> => {
  const { outcome } = await table.write({
    update: toAccountKey(account),
    set: { retentionDays: days },
  });
  if (outcome === "refused")
    throw new Failure("NOT_FOUND", "nothing_charged", `No account ${account}.`);
  if (outcome === "ambiguous")
    throw createUnavailableFailure("It is not known whether the retention was set.");
};
