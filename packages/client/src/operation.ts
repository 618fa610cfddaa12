import type { MoneyOutcome } from "./errors.ts";

/** The way to call one operation. The list is generated from the service's endpoints. */
export type Operation = {
  readonly route: string;
  /**
   * Whether a call may be repeated when its outcome is unknown. Absent: always. `keyed`: under the same Idempotency-Key. `never`: only when
   * it is certain that nothing was done.
   */
  readonly repeat?: "keyed" | "never";
  readonly paid?: true;
  readonly bare?: true;
  /** A POST without a body: its input is the query. */
  readonly inQuery?: true;
  /** The response is not wrapped in {success, data}. */
  readonly unwrapped?: true;
  readonly fixed?: Readonly<Record<string, string>>;
};

export const getMoneyWhenLost = ({ repeat, paid }: Operation): MoneyOutcome => {
  if (repeat === "keyed") return "retry_same_key";
  // Without a key the service recognizes only a repeated search, for two minutes.
  return paid ? "repeat_search" : "nothing_charged";
};
