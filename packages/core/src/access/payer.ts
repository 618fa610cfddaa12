import type { PlanId } from "../accounts/plans.ts";
import type { KeyMode } from "./key-form.ts";

/** Who asks, and with which kind of key. */
export type Payer = {
  readonly account: string;
  readonly mode: KeyMode;
  readonly plan: PlanId;
};

/** Whose records these are. What test keys leave behind is kept apart: no live key ever sees it, and no test key more. */
export const ownerOf = ({ account, mode }: Pick<Payer, "account" | "mode">): string =>
  mode === "live" ? account : `${account}~test`;
