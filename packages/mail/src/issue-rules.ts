import type { Issue, Severity } from "./issue.ts";

type IssueWeight = Pick<Issue, "severity" | "costPoints">;

export type IssueRule = IssueWeight & {
  readonly message: string;
  readonly lesser?: IssueWeight;
};

export type IssueRules<Id extends string> = Readonly<Record<Id, IssueRule>>;

const weighAs =
  (severity: Severity) =>
  (costPoints: number): IssueWeight => ({ severity, costPoints });

export const critical = weighAs("critical");
export const high = weighAs("high");
export const medium = weighAs("medium");
export const low = weighAs("low");
/** An issue that asks for no action costs nothing. */
export const INFO = weighAs("info")(0);

/** A TXT record may hold 64 kB; a message shows this number of its characters. */
const SHOWN_MAX = 200;

/** Creates the issues of a table. Only the table holds severities and costs. */
export const createIssueFactory =
  <Id extends string>(rules: IssueRules<Id>) =>
  (id: Id, detail: Issue["detail"] = {}, degree: "full" | "lesser" = "full"): Issue => {
    const rule = rules[id];
    const { severity, costPoints } = (degree === "lesser" && rule.lesser) || rule;
    return {
      id,
      severity,
      message: fillTemplate(rule.message, detail),
      detail: clipDetail(detail),
      costPoints,
    };
  };

const clipDetail = (detail: Issue["detail"]): Issue["detail"] =>
  Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [
      name,
      typeof value === "string" ? value.slice(0, SHOWN_MAX) : value,
    ]),
  );

export const scoreIssues = (issues: readonly Issue[]): number =>
  Math.max(0, 100 - issues.reduce((sum, { costPoints }) => sum + costPoints, 0));

export type IssueStatus = "pass" | "warn" | "fail";

export const toStatus = (issues: readonly Issue[]): IssueStatus => {
  if (issues.some(({ severity }) => severity === "critical" || severity === "high")) return "fail";
  return issues.some(({ costPoints }) => costPoints > 0) ? "warn" : "pass";
};

/** The detail holds text from outside, so a sentence uses only its readable characters, up to a limit. */
export const fillTemplate = (template: string, detail: Issue["detail"]): string =>
  template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    String(detail[name] ?? "")
      .slice(0, SHOWN_MAX)
      .replaceAll(/[^\x20-\x7e]/g, "?"),
  );

const NAMED_MAX = 5;

export const joinNames = (names: readonly string[]): string => {
  const unnamed = names.length - NAMED_MAX;
  return names.slice(0, NAMED_MAX).join(", ") + (unnamed > 0 ? ` and ${unnamed} more` : "");
};
