/** What has to hold before a stricter policy is safe. docs/design/dmarc-reports.md has the reason for each number. */
export const READINESS = {
  /** Full days (UTC) that count, and today. A check counts as long. */
  windowDays: 14,
  /** Of these days, so many need reports that found the present policy. */
  daysMin: 7,
  /** Messages in the window. */
  messagesMin: 100,
  /** Share of messages that are aligned. Those that a receiver knows as forwarded are left out of it. */
  alignedShareMin: 0.98,
  /** Share of messages that one sender may send unaligned, if it is a mail service or passes as another domain. */
  senderShareMax: 0.01,
  /** Share of messages of sources that SPF alone aligns. */
  spfOnlyShareMax: 0.05,
  /** A source that has sent nothing unaligned for so many days is corrected: its earlier mail leaves the window. */
  correctedAfterDays: 3,
} as const;
