import type { ProposedRecord } from "@mailproof/mail/records/dns-record";
import { propose } from "@mailproof/mail/records/dns-record";
import { addSpfTerm, hasGap } from "@mailproof/mail/records/spf-record";
import { advise } from "../reports/advise.ts";
import type { DatedSource, DomainReports } from "../reports/merge-reports.ts";
import type { CheckEvidence, Evidence } from "./evidence.ts";
import {
  asksForReports,
  findCurrentCheck,
  findWeakerTag,
  getPartStatus,
  RECORD_PARTS,
  type RecordPart,
} from "./published.ts";
import {
  findDmarcProposal,
  findUnalignedSenders,
  isCorrected,
  type Readiness,
} from "./readiness.ts";
import { describePart, type Step, type StepName } from "./steps.ts";

const NEXT_TEXTS = {
  check_domain: "Check {domain}. {why}",
  publish_spf:
    "Correct the SPF record of {domain}: {why} Then check the domain again, with refresh.",
  publish_dkim: "Correct DKIM of {domain}: {why} Then check the domain again, with refresh.",
  publish_dmarc:
    "Correct the DMARC record of {domain}: {why} Then check the domain again, with refresh.",
  request_reports:
    "Ask receivers for reports with rua= in the DMARC record of {domain}. Then check the domain again, with refresh.",
  send_test_mail:
    "Create a mail test, and send it a mail from {domain} as your customers get theirs. {why}",
  correct_mail: "Correct what the newest test mail shows: {why} Then send another one.",
  correct_source: "{why} The next check and the next reports show the result.",
  collect_reports:
    "Upload the DMARC reports of receivers, who send them once a day to the address in rua=. {why}",
  tighten_policy:
    "Publish the DMARC policy {policy}: the reports show that the mail of {domain} passes. Then check the domain again, with refresh.",
  protect_subdomains:
    "Publish a policy for subdomains of {domain} that is as strict as its own. Then check the domain again, with refresh.",
  keep_watching: "There is nothing to do. Keep the domain monitored, and keep reading its reports.",
} as const;

export type NextCode = keyof typeof NEXT_TEXTS;
export const NEXT_CODES = Object.keys(NEXT_TEXTS) as [NextCode, ...NextCode[]];

export type NextStep = {
  readonly code: NextCode;
  readonly text: string;
  /** Absent when the next step is not a record, or depends on facts that only the owner knows. */
  readonly proposal?: ProposedRecord;
};

type Choice = {
  readonly code: NextCode;
  readonly why?: string | undefined;
  readonly proposal?: ProposedRecord | undefined;
};

export const chooseNext = (
  evidence: Evidence,
  steps: Readonly<Record<StepName, Step>>,
  readiness: Readiness,
): NextStep => {
  const { code, why = "", proposal } = choose(evidence, steps, readiness);
  const values: Readonly<Record<string, string>> = {
    domain: evidence.domain,
    policy: readiness.readyFor ?? "",
    why,
  };
  const text = NEXT_TEXTS[code].replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
  return { code, text: text.trim(), ...(proposal && { proposal }) };
};

const choose = (
  evidence: Evidence,
  steps: Readonly<Record<StepName, Step>>,
  readiness: Readiness,
): Choice => {
  const check = findCurrentCheck(evidence);
  if (!check) return { code: "check_domain", why: explainCheck(evidence) };
  return (
    choosePublished(evidence, check) ??
    chooseMail(evidence, steps, check) ??
    choosePolicy(steps, { readiness, check })
  );
};

const explainCheck = ({ check }: Evidence): string => {
  if (!check) return "";
  if (check.report.dmarc.status === "error") return "DNS did not answer the last one.";
  return "What the last one found may have changed since.";
};

const choosePublished = (evidence: Evidence, check: CheckEvidence): Choice | undefined => {
  const statuses = RECORD_PARTS.map(
    (part) => [part, getPartStatus(part, evidence, check)] as const,
  );
  const failing = statuses.find(([, status]) => status === "failing");
  if (failing) {
    const [part] = failing;
    const proposal = findProposal(check, part);
    return { code: `publish_${part}`, why: describePart(part, check), proposal };
  }
  const unanswered = statuses.find(([part]) => check.report[part].status === "error");
  if (unanswered) return { code: "check_domain", why: describePart(unanswered[0], check) };
  if (asksForReports(check)) return undefined;
  return { code: "request_reports", proposal: findDmarcProposal(check) };
};

const findProposal = ({ report }: CheckEvidence, part: RecordPart): ProposedRecord | undefined =>
  report.recommendations.find(
    ({ proposal, issues }) =>
      proposal && issues.some((id) => id.startsWith(`${part.toUpperCase()}_`)),
  )?.proposal;

/** Reports about enough mail show more than a test mail does. */
const chooseMail = (
  evidence: Evidence,
  { tested, reported }: Readonly<Record<StepName, Step>>,
  check: CheckEvidence,
): Choice | undefined => {
  const { test } = evidence;
  if (reported.status === "failing") return chooseSource(evidence, check);
  if (reported.status === "done" || tested.status === "done") return undefined;
  const isAfterCheck = test !== null && test.receivedAt > check.checkedAt;
  if (tested.status === "failing" && isAfterCheck) return chooseCorrection(test.report?.findings);
  return { code: "send_test_mail", why: tested.missing[0] };
};

type Findings = NonNullable<NonNullable<Evidence["test"]>["report"]>["findings"];

const AUTHENTICATION: readonly string[] = RECORD_PARTS;

const chooseCorrection = (findings: Findings = []): Choice => {
  const relevant = findings.filter(
    ({ part, costPoints }) => AUTHENTICATION.includes(part) && costPoints > 0,
  );
  const finding = relevant.find(({ proposal }) => proposal) ?? relevant[0];
  return { code: "correct_mail", why: finding?.advice ?? "", proposal: finding?.proposal };
};

/** Chooses the largest source that is not corrected yet; sources of the rule's unaligned senders come first. */
const chooseSource = ({ domain, reports }: Evidence, check: CheckEvidence): Choice => {
  const named = findUnalignedSenders(reports, domain).flat();
  const sources = [...named, ...listUnaligned(reports), ...reports.dmarc.sources];
  const open = sources.find((source) => needsWork(source, reports, check));
  if (!open) return { code: "collect_reports", why: WAIT_FOR_CORRECTION };
  const { text, spfTerm } = advise(open, domain);
  return { code: "correct_source", why: text, proposal: addTerm(check, spfTerm) };
};

const WAIT_FOR_CORRECTION =
  "Every source is corrected; its earlier mail counts until it leaves the last 14 days.";

const listUnaligned = ({ dmarc }: DomainReports): readonly DatedSource[] =>
  dmarc.sources.filter(({ lastUnalignedDay }) => lastUnalignedDay !== null);

const needsWork = (source: DatedSource, reports: DomainReports, check: CheckEvidence): boolean => {
  const { code, spfTerm } = advise(source, check.report.domain);
  if (code === "add_dkim") return true;
  if (code === "aligned" || code === "forwarded" || isCorrected(source, reports)) return false;
  // The sender signs most of its mail already; it may have begun to sign the rest on the newest day.
  if (code === "partly_aligned") return source.lastUnalignedDay === reports.dmarc.days.at(-1)?.day;
  return spfTerm === null || !listTerms(check).includes(spfTerm);
};

const listTerms = ({ report }: CheckEvidence): readonly string[] =>
  report.spf.record?.split(" ") ?? [];

/** Adds the term to the record that the check proposes, because publishing two records in turn would undo the first. */
const addTerm = (check: CheckEvidence, term: string | null): ProposedRecord | undefined => {
  const { domain: name, spf } = check.report;
  if (term === null || spf.record === null) return undefined;
  const replaces = [{ name, type: "TXT", value: spf.record }] as const;
  const proposed = findProposal(check, "spf");
  const base =
    proposed?.record.name === name && !hasGap(proposed) ? proposed.record.value : spf.record;
  return propose({ name, type: "TXT", value: addSpfTerm(base, term) }, { replaces });
};

const choosePolicy = (
  steps: Readonly<Record<StepName, Step>>,
  { readiness, check }: { readonly readiness: Readiness; readonly check: CheckEvidence },
): Choice => {
  const { isReady, reasons } = readiness;
  if (isReady) return { code: "tighten_policy", proposal: findDmarcProposal(check) };
  const isStrict = reasons.some(({ code }) => code === "already_strict");
  if (steps.reported.status === "done" && isStrict)
    return findWeakerTag(check) === undefined
      ? { code: "keep_watching" }
      : { code: "protect_subdomains", proposal: findDmarcProposal(check) };
  if (reasons.some(({ code }) => code === "test_mail_failed"))
    return { code: "send_test_mail", why: steps.tested.missing[0] };
  const [why] = isStrict ? steps.reported.missing : reasons.map(({ text }) => text);
  return { code: "collect_reports", why };
};
