/** What has to hold before a stricter policy is safe. docs/design/dmarc-reports.md has the reason for each number. */
export const READINESS = {
  /** Full days (UTC) that count, and today. A check counts as long. */
  windowDays: 14,
  /** How many of these days need reports that found the current policy. */
  daysMin: 7,
  /** Messages in the window. */
  messagesMin: 100,
  /** Share of messages that are aligned. Those that a receiver reports as forwarded are left out. */
  alignedShareMin: 0.98,
  /** Share of messages that one sender may send unaligned, if it is a mail service or passes as another domain. */
  senderShareMax: 0.01,
  /** Share of messages from sources that are aligned only by SPF. */
  spfOnlyShareMax: 0.05,
  /** A source that has sent nothing unaligned for this many days is corrected: its earlier mail leaves the window. */
  correctedAfterDays: 3,
} as const;
