import type { KeyMode } from "./key-format.ts";
import type { PlanId } from "./plans.ts";

/** Who asks, and with which kind of key. */
export type Payer = {
  readonly account: string;
  readonly mode: KeyMode;
  readonly plan: PlanId;
};

/** Whose records these are. Those of test keys are kept apart: a live key never sees them, a test key sees no others. */
export const getOwnerId = ({ account, mode }: Pick<Payer, "account" | "mode">): string =>
  mode === "live" ? account : `${account}${TEST_SUFFIX}`;

const TEST_SUFFIX = "~test";

/**
 * How a message for an owner is queued: an account's work takes turns with that of others, its live and its test keys
 * together, and what a test key asks for, which costs nothing, is done last.
 */
export const toQueueGroup = (
  owner: string,
): { readonly group: string; readonly isLowPriority: boolean } => {
  const isLowPriority = owner.endsWith(TEST_SUFFIX);
  return { group: isLowPriority ? owner.slice(0, -TEST_SUFFIX.length) : owner, isLowPriority };
};
