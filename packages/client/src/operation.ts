import type { MoneyOutcome } from "./errors.ts";

/** How one operation is called. The list of them is made from the service's own. */
export type Operation = {
  readonly route: string;
  /**
   * Whether it may be sent again when nobody knows what became of it. Left out: yes. `keyed`: yes, under the same
   * Idempotency-Key. `never`: only when it is certain that nothing was done.
   */
  readonly repeat?: "keyed" | "never";
  /** What takes a key is paid, too. */
  readonly paid?: true;
  /** Takes no input. */
  readonly bare?: true;
  /** Answers without {success, data}. */
  readonly unwrapped?: true;
  readonly fixed?: Readonly<Record<string, string>>;
};

/** What is true of the money when a request was sent and no answer came. */
export const getMoneyWhenLost = ({ repeat, paid }: Operation): MoneyOutcome => {
  if (repeat === "keyed") return "retry_same_key";
  // Without a key there is only the service's own memory of a search, which lasts for its two minutes.
  return paid ? "repeat_search" : "nothing_charged";
};
