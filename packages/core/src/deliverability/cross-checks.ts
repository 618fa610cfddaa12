import type { DmarcAnalysis } from "@mailproof/mail/dmarc/analyse";
import type { Issue } from "@mailproof/mail/issue";
import { scoreIssues, toStatus } from "@mailproof/mail/issue-rules";
import type { MxAnalysis } from "@mailproof/mail/mx/analyse";
import { createMxIssue } from "@mailproof/mail/mx/rules";
import type { SpfAnalysis } from "@mailproof/mail/spf/analyse";
import { sendsNothing } from "@mailproof/mail/spf/parse";
import { createSpfIssues } from "@mailproof/mail/spf/rules";

/** Changes a finding by another: ~all depends on DMARC, and a null MX on SPF and DMARC. */
export const crossCheck = (
  mx: MxAnalysis,
  spf: SpfAnalysis,
  dmarc: DmarcAnalysis,
): { readonly mx: MxAnalysis; readonly spf: SpfAnalysis } => ({
  mx: isParked(spf, dmarc) ? replaceIssues(mx, mx.issues.map(reduceNullMx)) : mx,
  spf:
    dmarc.status !== "error" && (dmarc.policy === null || dmarc.policy === "none")
      ? replaceIssues(spf, spf.issues.flatMap(chargeSoftfail))
      : spf,
});

/**
 * True when every record shows that the domain sends no mail, so it need not receive mail either (RFC 7505 §4.2). A record
 * without an answer counts as such a record.
 */
const isParked = (spf: SpfAnalysis, dmarc: DmarcAnalysis): boolean =>
  (spf.status === "error" || sendsNothing(spf.record)) &&
  (dmarc.status === "error" || dmarc.policy === "reject");

const reduceNullMx = (issue: Issue): Issue =>
  issue.id === "MX_NULL" ? createMxIssue("MX_NULL", issue.detail, "lesser") : issue;

/** A softfail leaves the decision to DMARC. Without a DMARC policy nothing decides. */
const chargeSoftfail = (issue: Issue): readonly Issue[] =>
  issue.id === "SPF_SOFTFAIL"
    ? createSpfIssues([{ rule: "SPF_SOFTFAIL_ALONE", detail: issue.detail }])
    : [issue];

const replaceIssues = <T extends MxAnalysis | SpfAnalysis>(
  analysis: T,
  issues: readonly Issue[],
): T =>
  analysis.score === null || issues.every((issue, at) => issue === analysis.issues[at])
    ? analysis
    : {
        ...analysis,
        issues,
        score: scoreIssues(issues),
        status: analysis.status === "missing" ? "missing" : toStatus(issues),
      };
