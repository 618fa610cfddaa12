/**
 * What entries of the ledger, jobs and claims name as the reason of their debit. These are stored keys: each keeps the
 * spelling that the state of earlier releases has, whatever the way to the operation is called by now.
 */
export const REASONS = {
  verify: "POST /v1/verify",
  batch: "POST /v1/verify/batch",
  file: "POST /v1/verify/file",
  find: "POST /v1/find",
  check: "POST /v1/deliverability/check",
  monitor: "monitor",
  mailTest: "POST /v1/deliverability/tests",
} as const;

/** Why an operation was refunded, and why credits moved without one. Stored keys, too. */
export const REFUND_REASONS = {
  failed: "given up",
  not_probed: "not asked",
  not_reached: "not reached",
  cancelled: "cancelled",
  no_mail: "no mail came",
} as const;
export const GRANT_REASONS = {
  opening: "opening",
  granted: "granted by an operator",
  taken_back: "taken back by an operator",
} as const;

type OtherReason = keyof typeof REFUND_REASONS | keyof typeof GRANT_REASONS;

const OTHER_REASON_BY_STORED: ReadonlyMap<string, OtherReason> = new Map(
  Object.entries({ ...GRANT_REASONS, ...REFUND_REASONS }).map(([name, stored]) => [
    stored,
    name as OtherReason,
  ]),
);

/** The names of these reasons. */
export const OTHER_REASONS: readonly OtherReason[] = [...OTHER_REASON_BY_STORED.values()];

/** Undefined: the reason of a debit, or of how it ended. */
export const findOtherReason = (stored: string): OtherReason | undefined =>
  OTHER_REASON_BY_STORED.get(stored);

export const isRefundReason = (stored: string): boolean =>
  Object.values<string>(REFUND_REASONS).includes(stored);

/** What credits are paid for, in the words of the price list. */
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

const PAID_OPERATION_BY_REASON: ReadonlyMap<string, PaidOperation> = new Map([
  [REASONS.verify, "verify"],
  [REASONS.batch, "verify_batch"],
  [REASONS.file, "verify_file"],
  [REASONS.find, "find"],
  [REASONS.check, "deliverability_check"],
  [REASONS.monitor, "monitor"],
  [REASONS.mailTest, "mail_test"],
]);

/** Undefined: the reason of a grant, a clawback or a refund. */
export const findPaidOperation = (reason: string): PaidOperation | undefined =>
  PAID_OPERATION_BY_REASON.get(reason);
