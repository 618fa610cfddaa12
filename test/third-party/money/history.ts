import { writeFileSync } from "node:fs";

// A history of money: each operation of a client with the times of its call and its return, and the figures that were
// answered. tools/porcupine/main.go decides whether a register of the balance can have answered so. Amounts are
// half-credits.

export type Operation = {
  readonly account: string;
  readonly client: number;
  /** Nanoseconds of one clock. */
  readonly call: number;
  readonly return: number;
} & Effect;

/**
 * `charge`: exactly once. `insufficient`: refused, since the balance is below the amount. `balance`: the figure that was
 * answered, where one was. A `hold` and a `release` of one id are an attempt that took credits and gave them back.
 * `may_hold`: its reply was lost, so perhaps it took nothing, and then its release gives nothing. `may_release`: perhaps
 * what it took was kept.
 */
type Effect =
  | { readonly kind: "open" | "refund"; readonly amount: number }
  | { readonly kind: "read"; readonly balance: number }
  | { readonly kind: "charge" | "insufficient"; readonly amount: number; readonly balance?: number }
  | {
      readonly kind: "hold" | "may_hold" | "release" | "may_release";
      readonly amount: number;
      readonly id: string;
    };

/** Null: it is known later when it has certainly ended (`close`). */
export type Span = readonly [call: number, end: number | null];

export type History = ReturnType<typeof createHistory>;

export const createHistory = () => {
  const operations: (Omit<Operation, "return"> & { return: number | null })[] = [];
  let attempts = 0;
  return {
    now: () => Math.round(performance.now() * 1e6),
    count: () => operations.length,
    add: (account: string, client: number, [call, end]: Span, effect: Effect): void =>
      void operations.push({ account, client, call, return: end, ...effect }),
    /** A new id for an attempt. */
    newAttempt: () => `a${++attempts}`,
    close: (toEnd: (call: number) => number): void => {
      for (const one of operations) one.return ??= toEnd(one.call);
    },
    write: (file: string): void =>
      writeFileSync(file, operations.map((one) => `${JSON.stringify(one)}\n`).join("")),
  };
};

/**
 * `ends`: of the lives of a service. The next life repairs what was left when it starts, or is ended while it does, and
 * then the one after it repairs it.
 */
export const findEnd = (ends: readonly number[], call: number): number =>
  ends.filter((end) => end > call)[2] ?? Number.MAX_SAFE_INTEGER;
