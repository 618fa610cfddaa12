import type { Issue } from "@mailproof/mail/issue";
import type { Findings } from "./findings.ts";

/** The conditions of the caps and of the spam assessment: each tests the findings by issue ids. */
export type Signal = (findings: Findings) => boolean;

type Component = keyof Findings;

/** Issues with two degrees count here only in the full degree. */
const hasIssue =
  (component: Component, ...ids: readonly string[]): Signal =>
  (findings) =>
    findings[component]?.some(({ id, costPoints }) => ids.includes(id) && costPoints > 0) ?? false;

const hasFullIssue =
  (component: Component, leastCost: number, ...ids: readonly string[]): Signal =>
  (findings) =>
    findings[component]?.some(
      ({ id, costPoints }) => ids.includes(id) && costPoints >= leastCost,
    ) ?? false;

const anyOf =
  (...signals: readonly Signal[]): Signal =>
  (findings) =>
    signals.some((signal) => signal(findings));

const allOf =
  (...signals: readonly Signal[]): Signal =>
  (findings) =>
    signals.every((signal) => signal(findings));

const isClean =
  (component: Component, isGrave: (issue: Issue) => boolean): Signal =>
  (findings) =>
    findings[component] !== null && !findings[component].some(isGrave);

const isMoreThanLow = ({ severity }: Issue): boolean => severity !== "low" && severity !== "info";

const noDomain = hasIssue("dns", "MX_NXDOMAIN");
const noSpf = hasIssue("spf", "SPF_MISSING");
const noDkim = anyOf(hasIssue("dkim", "DKIM_NXDOMAIN"), hasFullIssue("dkim", 100, "DKIM_REVOKED"));
const noDmarc = anyOf(
  hasIssue("dmarc", "DMARC_MISSING", "DMARC_MULTIPLE", "DMARC_VERSION"),
  hasFullIssue("dmarc", 100, "DMARC_P_MISSING"),
);
const dmarcNone = anyOf(
  hasIssue("dmarc", "DMARC_P_NONE", "DMARC_P_MISSING"),
  hasFullIssue("dmarc", 40, "DMARC_T_Y"),
);

export const SIGNALS = {
  noDomain,
  // A null MX of a domain that sends nothing costs nothing, and an unroutable host counts only when all hosts are unroutable.
  noMx: anyOf(
    noDomain,
    hasIssue("dns", "MX_NONE_NO_A", "MX_NULL"),
    hasFullIssue("dns", 40, "MX_TARGET_IP", "MX_TARGET_NX", "MX_TARGET_PRIVATE"),
  ),
  noSpf,
  // These issues end every receiver's evaluation in permerror (RFC 7208 §2.6.7).
  spfBroken: hasIssue(
    "spf",
    "SPF_MULTIPLE",
    "SPF_SYNTAX",
    "SPF_LOOKUPS_GT_10",
    "SPF_VOID_GT_2",
    "SPF_MX_GT_10",
    "SPF_INCLUDE_NONE",
    "SPF_REDIRECT_NONE",
    "SPF_LOOP",
    "SPF_DANGLING_INCLUDE",
  ),
  // A block of the whole internet means the same as +all.
  spfOpen: anyOf(hasIssue("spf", "SPF_PLUS_ALL"), hasFullIssue("spf", 90, "SPF_WIDE_CIDR")),
  spfOk: isClean("spf", isMoreThanLow),
  noDkim,
  dkimUnknown: hasIssue("dkim", "DKIM_NOT_FOUND"),
  dkimOk: isClean("dkim", isMoreThanLow),
  unsigned: allOf(noSpf, noDkim),
  noDmarc,
  dmarcNone,
  dmarcEnforced: allOf(
    isClean("dmarc", () => false),
    (findings) => !noDmarc(findings) && !dmarcNone(findings),
  ),
  listedGravely: (findings) =>
    findings.reputation?.some(({ severity }) => severity === "critical") ?? false,
  notListed: isClean("reputation", ({ costPoints }) => costPoints > 0),
  noPtr: hasIssue("ptr", "PTR_MISSING"),
  ptrMismatch: hasIssue("ptr", "PTR_MISMATCH"),
  ptrGeneric: hasIssue("ptr", "PTR_GENERIC"),
  ptrConfirmed: isClean("ptr", ({ id }) => id === "PTR_MISSING" || id === "PTR_MISMATCH"),
} as const satisfies Record<string, Signal>;
