/** The conditions for a safe stricter policy. docs/design/domain-checks.md has the reason for each number. */
export const READINESS = {
  /** The full days (UTC) that count, in addition to today. A check counts as long. */
  windowDays: 14,
  /** The number of these days that need reports with the current policy. */
  daysMin: 7,
  messagesMin: 100,
  /** The share of aligned messages, without those that a receiver reports as forwarded. */
  alignedShareMin: 0.98,
  /** The share of messages that one sender may send unaligned, if it is a mail service or passes as another domain. */
  senderShareMax: 0.01,
  spfOnlyShareMax: 0.05,
  /** A source is corrected after three days without unaligned mail: its earlier mail leaves the window. */
  correctedAfterDays: 3,
} as const;
