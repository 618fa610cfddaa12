import { listWeakerTags } from "@mailproof/mail/dmarc/discover";
import { type DmarcPolicy, parseDmarc } from "@mailproof/mail/dmarc/record";
import { addMs, DAY_MS } from "../../lib/time.ts";
import { getReportedPolicy } from "../reports/report.ts";
import type { CheckEvidence, Evidence } from "./evidence.ts";
import { READINESS } from "./readiness-limits.ts";

export const RECORD_PARTS = ["spf", "dkim", "dmarc"] as const;
export type RecordPart = (typeof RECORD_PARTS)[number];

/** open: DNS did not answer, or no tried selector has a key, which proves nothing. */
export type PartStatus = "done" | "failing" | "open";

export const getPartStatus = (
  part: RecordPart,
  evidence: Pick<Evidence, "test" | "reports">,
  { report }: CheckEvidence,
): PartStatus => {
  const { status } = report[part];
  if (status === "error") return "open";
  if (part === "dmarc") return report.dmarc.policy === null ? "failing" : "done";
  if (status === "pass" || status === "warn") return "done";
  // A valid signature proves a key that the check did not find.
  if (status === "unknown") return hasSignedMail(evidence) ? "done" : "open";
  return "failing";
};

const hasSignedMail = ({ test, reports }: Pick<Evidence, "test" | "reports">): boolean =>
  test?.report?.dmarc.dkim.isAligned === true || reports.dmarc.total.dkimAligned > 0;

/** A receiver's report may show the old record for as long as DNS caches it. */
const CACHED_MS = DAY_MS;

export type FoundPolicy = {
  /** Null when the domain publishes no policy, or none is known. */
  readonly policy: DmarcPolicy | null;
  /** The time when the policy was seen. Null when none is known. */
  readonly seenAt: Date | null;
  /** The check that found the policy. Null when later reports show another policy, or no check exists. */
  readonly check: CheckEvidence | null;
};

/** Finds the published policy: the check's policy, unless reports of later days show another one. */
export const findPolicy = ({ check, reports }: Evidence): FoundPolicy => {
  const { policy: published, policySeenAt } = reports.dmarc;
  const reported = published && getReportedPolicy(published);
  if (check && check.report.dmarc.status !== "error") {
    const { policy } = check.report.dmarc;
    const isLater = policySeenAt !== null && policySeenAt > addMs(check.checkedAt, CACHED_MS);
    if (!isLater || reported === null || reported === policy)
      return { policy, seenAt: check.checkedAt, check };
  }
  return { policy: reported, seenAt: reported && policySeenAt, check: null };
};

/** Finds a recent check that read the current DMARC record and that reports do not contradict. */
export const findCurrentCheck = (evidence: Evidence): CheckEvidence | null => {
  const { check } = findPolicy(evidence);
  const oldest = addMs(evidence.now, -READINESS.windowDays * DAY_MS);
  return check && check.checkedAt >= oldest ? check : null;
};

export const asksForReports = ({ report }: CheckEvidence): boolean =>
  report.dmarc.record !== null &&
  parseDmarc(report.dmarc.record).reports.some(({ isValid }) => isValid);

/** Finds a policy for subdomains that is weaker than the domain's own policy, such as "sp=none". */
export const findWeakerTag = ({ report }: CheckEvidence): string | undefined => {
  const { record, recordDomain } = report.dmarc;
  if (record === null || recordDomain !== report.domain) return undefined;
  const [found] = listWeakerTags({ domain: recordDomain, record: parseDmarc(record) });
  return found && `${found.tag}=${found.value}`;
};
