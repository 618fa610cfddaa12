import { ADVICE } from "../advice.ts";
import type { Issue } from "../issue.ts";
import { createIssueFactory, fillTemplate } from "../issue-rules.ts";
import { AUTHENTICATION_RULES } from "./rules/authentication.ts";
import { CONTENT_RULES } from "./rules/content.ts";
import type { ReportPart } from "./rules/rule.ts";

export type MessageFinding = Issue & {
  readonly part: ReportPart;
  readonly advice: string;
};

const MESSAGE_RULES = { ...AUTHENTICATION_RULES, ...CONTENT_RULES };

export type MessageRuleId = keyof typeof MESSAGE_RULES;

const createIssue = createIssueFactory(MESSAGE_RULES);

export const createFinding = (
  id: MessageRuleId,
  detail: Issue["detail"] = {},
  degree: "full" | "lesser" = "full",
): MessageFinding => {
  const { part, advice } = MESSAGE_RULES[id];
  return { ...createIssue(id, detail, degree), part, advice: fillTemplate(advice, detail) };
};

const DELIST = "Stop the cause, then ask for removal at {url}.";

export const toFinding = (issue: Issue, part: ReportPart): MessageFinding => {
  const found = ADVICE.find((advice) => advice.for.includes(issue.id));
  const template = issue.id.startsWith("LISTED:") ? DELIST : found?.text;
  const advice = template === undefined ? issue.message : fillTemplate(template, issue.detail);
  return { ...issue, part, advice };
};
