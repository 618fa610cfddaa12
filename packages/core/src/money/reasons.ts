/** The operations that credits pay for, in the words of the price list. A debit and its settlement have this reason. */
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

const REFUND_REASONS = ["failed", "not_probed", "not_reached", "cancelled", "no_mail"] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

/** The reasons of movements without an operation, and of an operation's refund. */
export const OTHER_REASONS = ["opening", "granted", "taken_back", ...REFUND_REASONS] as const;
type OtherReason = (typeof OTHER_REASONS)[number];

export const REASONS = [...PAID_OPERATIONS, ...OTHER_REASONS] as const;
export type Reason = (typeof REASONS)[number];

/** Undefined for the reason of a grant, a clawback or a refund. */
export const findPaidOperation = (reason: Reason): PaidOperation | undefined =>
  PAID_OPERATIONS.find((operation) => operation === reason);

/** Undefined for the reason of a debit or of its settlement. */
export const findOtherReason = (reason: Reason): OtherReason | undefined =>
  OTHER_REASONS.find((other) => other === reason);

export const isRefundReason = (reason: Reason): boolean =>
  REFUND_REASONS.some((refund) => refund === reason);
