import type { Issue } from "@mailproof/mail/issue";
import { scoreIssues } from "@mailproof/mail/issue-rules";

export const COMPONENTS = ["dns", "spf", "dkim", "dmarc", "reputation", "ptr"] as const;

export type CheckComponent = (typeof COMPONENTS)[number];

/** The issues by component. Null when nothing could be found out, which counts neither for nor against the domain. */
export type Findings = Readonly<Record<CheckComponent, readonly Issue[] | null>>;

export type ComponentAnalysis = {
  readonly score: number | null;
  readonly issues: readonly Issue[];
};

export const toFindings = ({ score, issues }: ComponentAnalysis): readonly Issue[] | null =>
  score === null ? null : issues;

export const scoreComponent = (issues: readonly Issue[] | null): number | null =>
  issues === null ? null : scoreIssues(issues);

export const listIssues = (findings: Findings): readonly Issue[] =>
  COMPONENTS.flatMap((component) => findings[component] ?? []);

export const removeIssues = (
  findings: Findings,
  isPutRight: (issue: Issue) => boolean,
): Findings => {
  const filter = (component: CheckComponent) =>
    findings[component]?.filter((issue) => !isPutRight(issue)) ?? null;
  return {
    dns: filter("dns"),
    spf: filter("spf"),
    dkim: filter("dkim"),
    dmarc: filter("dmarc"),
    reputation: filter("reputation"),
    ptr: filter("ptr"),
  };
};
