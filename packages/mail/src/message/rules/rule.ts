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

export type MessageRule = IssueRule & {
  readonly part: ReportPart;
  readonly advice: string;
};

export type MessageRules = Readonly<Record<string, MessageRule>>;
