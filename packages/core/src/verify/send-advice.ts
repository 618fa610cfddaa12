import type { Status } from "./result.ts";

export const SEND_ADVICES = ["yes", "careful", "no"] as const;
export type SendAdvice = (typeof SEND_ADVICES)[number];

const ADVICE: Readonly<Record<Status, SendAdvice>> = {
  valid: "yes",
  invalid: "no",
  disposable: "no",
  spam_trap: "no",
  role: "careful",
  catch_all: "careful",
  risky: "careful",
  unknown: "careful",
};

/** A later release may have a status that this release does not know. */
export const toSendAdvice = (status: string): SendAdvice =>
  Object.hasOwn(ADVICE, status) ? ADVICE[status as Status] : "careful";
