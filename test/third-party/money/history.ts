import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getToolFolder } from "../tools.ts";

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
 * `charge`, `refund`: exactly once. `insufficient`: refused, since the balance is below the amount. `may_charge`: its reply
 * was lost, so perhaps it took nothing. `balance`: the figure that was answered, where one was.
 */
type Effect =
  | { readonly kind: "open" | "refund" | "may_charge"; readonly amount: number }
  | { readonly kind: "read"; readonly balance: number }
  | {
      readonly kind: "charge" | "insufficient";
      readonly amount: number;
      readonly balance?: number;
    };

export type Span = readonly [call: number, end: number];

export type History = ReturnType<typeof createHistory>;

export const createHistory = () => {
  const operations: Operation[] = [];
  return {
    now: () => Math.round(performance.now() * 1e6),
    count: () => operations.length,
    add: (account: string, client: number, [call, end]: Span, effect: Effect): void =>
      void operations.push({ account, client, call, return: end, ...effect }),
    write: (file: string): void =>
      writeFileSync(file, operations.map((one) => `${JSON.stringify(one)}\n`).join("")),
  };
};

/** The same moment on the clock of the service, which is set ahead at each, and on that of the history. */
export type Jump = { readonly service: number; readonly at: number };

/**
 * When that was written to which the service gave this time: since then, and before its clock was set ahead so many times
 * again.
 */
export const toSpan = (jumps: readonly Jump[], time: number, times: number): Span => {
  const next = jumps.findIndex(({ service }) => service >= time);
  const jump = jumps[next];
  const end = jump && jumps[next + times - 1]?.at;
  const call = jump ? jump.at - (jump.service + 1 - time) * 1e6 : (jumps.at(-1)?.at ?? 0);
  return [Math.max(0, call), end ?? Number.MAX_SAFE_INTEGER];
};

export type Verdict = {
  readonly verdict: "Ok" | "Illegal" | "Unknown";
  readonly operations: number;
  readonly accounts: number;
  /** The accounts that no register can explain. */
  readonly wrong: readonly string[];
  readonly ms: number;
};

/** Porcupine's verdict on a history. */
export const judge = (history: History): Verdict => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-history-"));
  const file = process.env["MONEY_HISTORY"] ?? join(folder, "history.jsonl");
  history.write(file);
  const printed = execFileSync(join(getToolFolder("porcupine"), "run"), [file], {
    encoding: "utf8",
  });
  rmSync(folder, { recursive: true });
  return JSON.parse(printed) as Verdict;
};
