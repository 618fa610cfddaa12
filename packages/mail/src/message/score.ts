import { type Grade, toGrade } from "../grade.ts";
import { scoreIssues } from "../issue-rules.ts";
import type { MessageFinding } from "./findings.ts";
import { REPORT_PARTS, type ReportPart } from "./rules/rule.ts";

/** Rises with every change of a weight, a cap, a cost or a rule. */
export const MESSAGE_MODEL_VERSION = "1";

/** The weight of each part; 100 in all. docs/design/mail-tests.md has the reasons. */
const PART_WEIGHTS: Readonly<Record<ReportPart, number>> = {
  spf: 15,
  dkim: 20,
  dmarc: 20,
  server: 15,
  reputation: 10,
  header: 10,
  content: 10,
};

type MessageCap = {
  readonly id: string;
  readonly holds: (findings: readonly MessageFinding[]) => boolean;
  readonly atMost: number;
};

const costs = (findings: readonly MessageFinding[], part: ReportPart): number =>
  findings.reduce((sum, one) => sum + (one.part === part ? one.costPoints : 0), 0);

const has =
  (...ids: readonly string[]): MessageCap["holds"] =>
  (findings) =>
    findings.some(({ id }) => ids.includes(id));

/** Neither SPF nor DKIM proves who sent the message. */
const isUnauthenticated: MessageCap["holds"] = (findings) =>
  costs(findings, "spf") >= 60 && costs(findings, "dkim") >= 100;

/** Faults that make receivers refuse a message, however good the rest is. The lowest cap that holds counts. */
const MESSAGE_CAPS: readonly MessageCap[] = [
  { id: "no_author", holds: has("FROM_MISSING", "FROM_SEVERAL", "DMARC_NO_AUTHOR"), atMost: 39 },
  { id: "unauthenticated", holds: isUnauthenticated, atMost: 39 },
  {
    id: "listed_gravely",
    holds: (findings) =>
      findings.some(({ part, severity }) => part === "reputation" && severity === "critical"),
    atMost: 49,
  },
  { id: "dmarc_fail", holds: has("DMARC_FAIL"), atMost: 59 },
  { id: "no_reverse_dns", holds: has("PTR_MISSING", "PTR_MISMATCH"), atMost: 69 },
  { id: "no_dmarc", holds: has("DMARC_MISSING"), atMost: 84 },
];

export type MessageScore = {
  readonly score: number;
  readonly grade: Grade;
  /** The score is the weighted mean of these parts, before a cap. It omits a part without a verdict. */
  readonly parts: readonly {
    readonly part: ReportPart;
    readonly weight: number;
    readonly score: number;
  }[];
  readonly uncapped: number;
  readonly cappedBy: string | null;
};

/** `open` names the parts that could not be judged, because DNS did not answer. */
export const scoreMessage = (
  findings: readonly MessageFinding[],
  open: readonly ReportPart[],
): MessageScore => {
  const parts = REPORT_PARTS.filter((part) => !open.includes(part)).map((part) => ({
    part,
    weight: PART_WEIGHTS[part],
    score: scoreIssues(findings.filter((one) => one.part === part)),
  }));
  const weights = parts.reduce((sum, { weight }) => sum + weight, 0);
  const weighted = parts.reduce((sum, { weight, score }) => sum + weight * score, 0);
  const uncapped = Math.round(weighted / weights);
  const counted = findings.filter(({ part }) => !open.includes(part));
  const [cap] = MESSAGE_CAPS.filter(
    ({ holds, atMost }) => atMost < uncapped && holds(counted),
  ).toSorted((a, b) => a.atMost - b.atMost);
  const score = cap?.atMost ?? uncapped;
  return { score, grade: toGrade(score), parts, uncapped, cappedBy: cap?.id ?? null };
};
