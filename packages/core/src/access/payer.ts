import type { PlanId } from "../accounts/plans.ts";
import type { KeyMode } from "./key-form.ts";

/** Who asks, and with which kind of key. */
export type Payer = {
  readonly account: string;
  readonly mode: KeyMode;
  readonly plan: PlanId;
};

/** Whose records these are. Those of test keys are kept apart: a live key never sees them, a test key sees no others. */
export const ownerOf = ({ account, mode }: Pick<Payer, "account" | "mode">): string =>
  mode === "live" ? account : `${account}${TEST}`;

const TEST = "~test";

/**
 * How a message for an owner is queued: an account's work takes turns with that of others, its live and its test keys
 * together, and what a test key asks for, which costs nothing, is done last.
 */
export const queuedFor = (owner: string): { readonly group: string; readonly isLast: boolean } => {
  const isLast = owner.endsWith(TEST);
  return { group: isLast ? owner.slice(0, -TEST.length) : owner, isLast };
};
