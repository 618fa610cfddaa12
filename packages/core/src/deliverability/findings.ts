import type { Issue } from "../mail/issue.ts";
import { scoreIssues } from "../mail/issue-rules.ts";

/** What a check looks at. The names are those of the score's parts. */
export const COMPONENTS = ["dns", "spf", "dkim", "dmarc", "reputation", "ptr"] as const;

export type CheckComponent = (typeof COMPONENTS)[number];

/** What was found, by component. Null: nothing could be found out, which counts neither for nor against. */
export type Findings = Readonly<Record<CheckComponent, readonly Issue[] | null>>;

/** What an analyser says of its component, as far as the score goes by it. */
export type ComponentAnalysis = {
  readonly score: number | null;
  readonly issues: readonly Issue[];
};

export const toFindings = ({ score, issues }: ComponentAnalysis): readonly Issue[] | null =>
  score === null ? null : issues;

export const scoreComponent = (issues: readonly Issue[] | null): number | null =>
  issues === null ? null : scoreIssues(issues);

/** All issues of the components that reached a verdict. */
export const listIssues = (findings: Findings): readonly Issue[] =>
  COMPONENTS.flatMap((component) => findings[component] ?? []);

/** The same findings with some issues put right. */
export const removeIssues = (
  findings: Findings,
  isPutRight: (issue: Issue) => boolean,
): Findings => {
  const rest = (component: CheckComponent) =>
    findings[component]?.filter((issue) => !isPutRight(issue)) ?? null;
  return {
    dns: rest("dns"),
    spf: rest("spf"),
    dkim: rest("dkim"),
    dmarc: rest("dmarc"),
    reputation: rest("reputation"),
    ptr: rest("ptr"),
  };
};
