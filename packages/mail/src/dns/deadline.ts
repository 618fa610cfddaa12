import type { Clock } from "../lib/clock.ts";
import type { Dns } from "./dns.ts";

type DnsBudget = {
  readonly budgetMs: number;
  readonly questionsMax: number;
} & Clock;

const TIMEOUT = { kind: "timeout" } as const;

/**
 * All the DNS of one verification within one time, which starts now. When it is over, every question comes to a
 * timeout at once, both the waiting ones and those not yet sent: an answer we did not wait for is not an answer.
 */
export const withDeadline = (dns: Dns, { budgetMs, questionsMax, now, sleep }: DnsBudget): Dns => {
  const endsAtMs = now().getTime() + budgetMs;
  let questions = 0;
  let expiry: Promise<typeof TIMEOUT> | undefined;

  return async (type, name) => {
    const leftMs = endsAtMs - now().getTime();
    questions += 1;
    if (leftMs <= 0 || questions > questionsMax) return TIMEOUT;
    // One sleep for all questions, and none when nothing is asked.
    expiry ??= sleep(leftMs).then(() => TIMEOUT);
    return Promise.race([dns(type, name), expiry]);
  };
};
