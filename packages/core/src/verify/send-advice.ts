import { STATUSES, type Status } from "./result.ts";

/** Whether to send mail to an address. */
export type SendAdvice = "yes" | "no" | "careful";

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

/** The statuses of addresses that mail may be sent to. */
export const SAFE_STATUSES: readonly Status[] = STATUSES.filter(
  (status) => ADVICE[status] === "yes",
);

/** A later version of the service may have a status that this one does not know. */
export const toSendAdvice = (status: string): SendAdvice =>
  Object.hasOwn(ADVICE, status) ? ADVICE[status as Status] : "careful";
