import type { PlanId } from "./plans.ts";

export const KEY_MODES = ["live", "test"] as const;

/** Live keys cost credits and reach real data. Test keys get sandbox responses and cost nothing. */
export type KeyMode = (typeof KEY_MODES)[number];

/** The account of a request, and the mode of its key. */
export type Payer = {
  readonly account: string;
  readonly mode: KeyMode;
  readonly plan: PlanId;
  /** The account's own retention of jobs. Absent: the plan's. */
  readonly retentionDays?: number | undefined;
  /** No bounce was ever reported to the account, so none is looked up. */
  readonly bounceFree?: true | undefined;
};

/**
 * The owner of stored records. Records of test keys are separate: live keys never see them, and test keys see no
 * others.
 */
export const getOwnerId = ({ account, mode }: Pick<Payer, "account" | "mode">): string =>
  mode === "live" ? account : `${account}${TEST_SUFFIX}`;

const TEST_SUFFIX = "~test";

/**
 * How a message for an owner is queued: accounts take turns, live and test keys of an account count as one, and the
 * requests of test keys, which cost nothing, are done last.
 */
export const toQueueGroup = (
  owner: string,
): { readonly group: string; readonly isLowPriority: boolean } => {
  const isLowPriority = owner.endsWith(TEST_SUFFIX);
  return { group: isLowPriority ? owner.slice(0, -TEST_SUFFIX.length) : owner, isLowPriority };
};
