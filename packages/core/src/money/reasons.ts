/** What credits are paid for, in the words of the price list. It is the reason of a debit, and of how it ended. */
export const PAID_OPERATIONS = [
  "verify",
  "verify_batch",
  "verify_file",
  "find",
  "deliverability_check",
  "monitor",
  "mail_test",
] as const;

export type PaidOperation = (typeof PAID_OPERATIONS)[number];

/** Why an operation was refunded. */
const REFUND_REASONS = ["failed", "not_probed", "not_reached", "cancelled", "no_mail"] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

/** Why credits move without an operation, and why an operation's credits return. */
export const OTHER_REASONS = ["opening", "granted", "taken_back", ...REFUND_REASONS] as const;
type OtherReason = (typeof OTHER_REASONS)[number];

/** Why an entry of the ledger was written. */
export const REASONS = [...PAID_OPERATIONS, ...OTHER_REASONS] as const;
export type Reason = (typeof REASONS)[number];

/** Undefined: the reason of a grant, a clawback or a refund. */
export const findPaidOperation = (reason: Reason): PaidOperation | undefined =>
  PAID_OPERATIONS.find((operation) => operation === reason);

/** Undefined: the reason of a debit, or of how it ended. */
export const findOtherReason = (reason: Reason): OtherReason | undefined =>
  OTHER_REASONS.find((other) => other === reason);

export const isRefundReason = (reason: Reason): boolean =>
  REFUND_REASONS.some((refund) => refund === reason);
