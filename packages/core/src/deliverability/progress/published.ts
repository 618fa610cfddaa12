import { listWeakerTags } from "@mailproof/mail/dmarc/discover";
import { type DmarcPolicy, parseDmarc } from "@mailproof/mail/dmarc/record";
import { addMs, DAY_MS } from "../../lib/time.ts";
import { getReportedPolicy } from "../reports/report.ts";
import type { CheckEvidence, Evidence } from "./evidence.ts";
import { READINESS } from "./readiness-limits.ts";

// What was observed of the records that a domain publishes.

export const RECORD_PARTS = ["spf", "dkim", "dmarc"] as const;
export type RecordPart = (typeof RECORD_PARTS)[number];

/** open: DNS did not answer, or no key was found under the names that were tried, which proves nothing. */
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
  // A signature that passed proves the key that the check did not find.
  if (status === "unknown") return hasSignedMail(evidence) ? "done" : "open";
  return "failing";
};

const hasSignedMail = ({ test, reports }: Pick<Evidence, "test" | "reports">): boolean =>
  test?.report?.dmarc.dkim.isAligned === true || reports.dmarc.total.dkimAligned > 0;

/** A receiver may have the record of before for as long as DNS caches it. */
const CACHED_MS = DAY_MS;

export type FoundPolicy = {
  /** Null: none is published, or none is known. */
  readonly policy: DmarcPolicy | null;
  /** When it was seen. Null: none is known. */
  readonly seenAt: Date | null;
  /** Of the check that found it. Null: reports show another policy since then, or there is no check. */
  readonly check: CheckEvidence | null;
};

/** The policy that the domain publishes: what the check found, unless reports of later days show another one. */
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

/** The check that says what is published now: recent, with an answer about DMARC, and not contradicted by reports. */
export const findCurrentCheck = (evidence: Evidence): CheckEvidence | null => {
  const { check } = findPolicy(evidence);
  const oldest = addMs(evidence.now, -READINESS.windowDays * DAY_MS);
  return check && check.checkedAt >= oldest ? check : null;
};

/** Whether the record asks for aggregate reports at an address that can be one. */
export const asksForReports = ({ report }: CheckEvidence): boolean =>
  report.dmarc.record !== null &&
  parseDmarc(report.dmarc.record).reports.some(({ isValid }) => isValid);

/** A policy for subdomains that is weaker than that of the domain itself, such as "sp=none". */
export const findWeakerTag = ({ report }: CheckEvidence): string | undefined => {
  const { record, recordDomain } = report.dmarc;
  if (record === null || recordDomain !== report.domain) return undefined;
  const [found] = listWeakerTags({ domain: recordDomain, record: parseDmarc(record) });
  return found && `${found.tag}=${found.value}`;
};
