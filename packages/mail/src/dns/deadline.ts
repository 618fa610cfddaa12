import type { Clock } from "../lib/clock.ts";
import type { Dns } from "./dns.ts";

type DnsBudget = {
  readonly budgetMs: number;
  readonly questionsMax: number;
} & Clock;

const TIMEOUT = { kind: "timeout" } as const;

/**
 * Gives all DNS questions of one verification a single deadline, counted from now. After the deadline every question ends as a timeout at
 * once, also a question not yet sent: a late answer must not count.
 */
export const withDeadline = (dns: Dns, { budgetMs, questionsMax, now, sleep }: DnsBudget): Dns => {
  const endsAtMs = now().getTime() + budgetMs;
  let questions = 0;
  let expiry: Promise<typeof TIMEOUT> | undefined;

  return async (type, name) => {
    const leftMs = endsAtMs - now().getTime();
    questions += 1;
    if (leftMs <= 0 || questions > questionsMax) return TIMEOUT;
    expiry ??= sleep(leftMs).then(() => TIMEOUT);
    return Promise.race([dns(type, name), expiry]);
  };
};
