import type { Halves } from "./credits.ts";
import type { PlanId } from "./plans.ts";

export const KEY_MODES = ["live", "test"] as const;

/** Live keys cost credits and reach real data. Test keys get sandbox responses and cost nothing. */
export type KeyMode = (typeof KEY_MODES)[number];

export type Payer = {
  readonly account: string;
  readonly mode: KeyMode;
  readonly plan: PlanId;
  /** The account's own retention of jobs in days. Absent when the plan's retention applies. */
  readonly retentionDays?: number | undefined;
  /** Set when no bounce was ever reported to the account, so no look-up of bounces is needed. */
  readonly bounceFree?: true | undefined;
  /** The most that the account may spend in a month (UTC). Absent without a limit. */
  readonly monthlyHalves?: Halves | undefined;
  /** The signed-in person who pays, and the person's own limit. Absent for a key. */
  readonly person?: PayingPerson | undefined;
};

export type PayingPerson = { readonly id: string; readonly monthlyHalves?: Halves | undefined };

/** The owner of stored records. Records of test keys are separate: a live key never sees them, and a test key sees only them. */
export const getOwnerId = ({ account, mode }: Pick<Payer, "account" | "mode">): string =>
  mode === "live" ? account : `${account}${TEST_SUFFIX}`;

const TEST_SUFFIX = "~test";

/** The account and the mode of an owner's id. */
export const readOwnerId = (owner: string): Pick<Payer, "account" | "mode"> =>
  owner.endsWith(TEST_SUFFIX)
    ? { account: owner.slice(0, -TEST_SUFFIX.length), mode: "test" }
    : { account: owner, mode: "live" };

/**
 * Puts a message into its owner's queue group. Accounts take turns, live and test keys of an account share one group, and
 * requests of test keys, which cost nothing, come last.
 */
export const toQueueGroup = (
  owner: string,
): { readonly group: string; readonly isLowPriority: boolean } => {
  const isLowPriority = owner.endsWith(TEST_SUFFIX);
  return { group: isLowPriority ? owner.slice(0, -TEST_SUFFIX.length) : owner, isLowPriority };
};
