import { addMs, DAY_MS } from "../../lib/time.ts";
import type { CheckEvidence, Evidence } from "./evidence.ts";
import {
  findPolicy,
  findWeakerTag,
  getPartStatus,
  type PartStatus,
  RECORD_PARTS,
  type RecordPart,
} from "./published.ts";
import {
  describeReason,
  FAULT_CODES,
  listReportCodes,
  type Readiness,
  type ReasonCode,
} from "./readiness.ts";
import { READINESS } from "./readiness-limits.ts";

export const STEPS = ["published", "tested", "reported", "enforced"] as const;
export type StepName = (typeof STEPS)[number];

/** failing: the evidence shows a fault. open: the evidence is missing or insufficient. */
export const STEP_STATUSES = ["done", "failing", "open"] as const;

export type Step = {
  readonly step: StepName;
  readonly status: (typeof STEP_STATUSES)[number];
  readonly observedAt: Date | null;
  readonly check: string | null;
  readonly test: string | null;
  readonly missing: readonly string[];
};

type Steps = Readonly<Record<StepName, Step>>;

export const judgeSteps = (evidence: Evidence, readiness: Readiness): Steps => ({
  published: toStep("published", judgePublished(evidence)),
  tested: toStep("tested", judgeTested(evidence)),
  reported: toStep("reported", judgeReported(evidence, readiness)),
  enforced: toStep("enforced", judgeEnforced(evidence)),
});

type Judged = Pick<Step, "status" | "missing"> & Partial<Step>;

const toStep = (step: StepName, judged: Judged): Step => ({
  observedAt: null,
  check: null,
  test: null,
  ...judged,
  step,
});

const judgePublished = (evidence: Evidence): Judged => {
  const { check } = evidence;
  if (!check)
    return {
      status: "open",
      missing: ["The domain was not checked yet."],
    };
  const parts = RECORD_PARTS.map((part) => ({
    part,
    status: getPartStatus(part, evidence, check),
  }));
  return {
    status: getWorst(parts.map(({ status }) => status)),
    observedAt: check.checkedAt,
    check: check.id,
    missing: parts
      .filter(({ status }) => status !== "done")
      .map(({ part }) => describePart(part, check)),
  };
};

const getWorst = (statuses: readonly PartStatus[]): PartStatus => {
  if (statuses.includes("failing")) return "failing";
  return statuses.includes("open") ? "open" : "done";
};

export const describePart = (part: RecordPart, { report }: CheckEvidence): string => {
  const { status, issues } = report[part];
  if (status === "error") return `DNS did not answer about ${part.toUpperCase()}.`;
  const [gravest] = issues.toSorted((one, other) => other.costPoints - one.costPoints);
  return gravest?.message ?? `${part.toUpperCase()} has a fault.`;
};

const judgeTested = ({ domain, test }: Evidence): Judged => {
  if (!test)
    return {
      status: "open",
      missing: [`No test mail from ${domain} arrived yet.`],
    };
  const result = test.report?.dmarc.result;
  const status = result === "pass" ? "done" : isFailure(result) ? "failing" : "open";
  return {
    status,
    observedAt: test.receivedAt,
    test: test.id,
    missing: status === "done" ? [] : [describeTest(result)],
  };
};

type TestResult = "pass" | "fail" | "none" | "temperror" | "permerror" | undefined;

const isFailure = (result: TestResult): boolean => result === "fail" || result === "permerror";

const describeTest = (result: TestResult): string => {
  if (result === "fail") return "The newest test mail fails DMARC: neither SPF nor DKIM aligns it.";
  if (result === "permerror") return "The newest test mail names no single author.";
  if (result === "none") return "When the newest test mail arrived, no DMARC policy was published.";
  if (result === "temperror") return "DNS did not answer when the newest test mail was judged.";
  return "The report about the newest test mail was erased.";
};

const judgeReported = ({ domain, now, reports }: Evidence, { mail }: Readiness): Judged => {
  const { days } = mail;
  const codes = listReportCodes(reports, mail, { domain, days });
  const isFailing = codes.some((code) => FAULT_CODES.includes(code));
  const newest = reports.dmarc.days.at(-1)?.day;
  return {
    status: isFailing ? "failing" : codes.length > 0 ? "open" : "done",
    observedAt: newest === undefined ? null : endOf(newest, now),
    missing: codes.map((code) => describeReports(code, domain, mail)),
  };
};

const endOf = (day: string, now: Date): Date => {
  const end = addMs(new Date(`${day}T00:00:00.000Z`), DAY_MS);
  return end < now ? end : now;
};

/** This step sets no condition on the current policy. */
const describeReports = (code: ReasonCode, domain: string, mail: Readiness["mail"]): string =>
  code === "too_few_days"
    ? `Days with reports: ${mail.days}. It takes ${READINESS.daysMin} of the last ${READINESS.windowDays}.`
    : describeReason(code, domain, mail);

const judgeEnforced = (evidence: Evidence): Judged => {
  const { policy, seenAt, check } = findPolicy(evidence);
  const weaker = check ? findWeakerTag(check) : undefined;
  const isDone = policy === "reject" && weaker === undefined;
  const missing =
    policy === "reject"
      ? weaker === undefined
        ? []
        : [`Subdomains have a weaker policy: ${weaker}.`]
      : [policy === null ? "No DMARC policy is known." : `The policy is ${policy}.`];
  return {
    status: isDone ? "done" : "open",
    observedAt: seenAt,
    check: check?.id ?? null,
    missing,
  };
};
