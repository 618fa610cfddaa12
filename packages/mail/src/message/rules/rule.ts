import type { IssueRule } from "../../issue-rules.ts";

export const REPORT_PARTS = [
  "spf",
  "dkim",
  "dmarc",
  "server",
  "reputation",
  "header",
  "content",
] as const;

export type ReportPart = (typeof REPORT_PARTS)[number];

/** A row of a table of findings. `costPoints` reduce the part's own score of 0 to 100. */
export type MessageRule = IssueRule & {
  readonly part: ReportPart;
  readonly advice: string;
};

export type MessageRules = Readonly<Record<string, MessageRule>>;
