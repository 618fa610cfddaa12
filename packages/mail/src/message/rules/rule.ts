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

type MessageRule = IssueRule & { readonly advice: string };

/** Creates the rules about one part of a report. */
export const inPart = <Id extends string>(
  part: ReportPart,
  rules: Readonly<Record<Id, MessageRule>>,
) =>
  Object.fromEntries(
    Object.entries<MessageRule>(rules).map(([id, rule]) => [id, { ...rule, part }]),
  ) as Readonly<Record<Id, MessageRule & { readonly part: ReportPart }>>;
