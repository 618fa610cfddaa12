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
  mode === "live" ? account : `${account}~test`;
