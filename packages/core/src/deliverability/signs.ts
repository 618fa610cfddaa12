import type { Issue } from "../mail/issue.ts";
import type { Findings } from "./findings.ts";

/** What the caps and the spam assessment go by: each is a question to the findings, answered by ids. */
export type Sign = (findings: Findings) => boolean;

type Component = keyof Findings;

/** Issues that come in two degrees count here only in the full one. */
const has =
  (component: Component, ...ids: readonly string[]): Sign =>
  (findings) =>
    findings[component]?.some(({ id, costPoints }) => ids.includes(id) && costPoints > 0) ?? false;

const hasInFull =
  (component: Component, leastCost: number, ...ids: readonly string[]): Sign =>
  (findings) =>
    findings[component]?.some(
      ({ id, costPoints }) => ids.includes(id) && costPoints >= leastCost,
    ) ?? false;

const any =
  (...signs: readonly Sign[]): Sign =>
  (findings) =>
    signs.some((sign) => sign(findings));

const all =
  (...signs: readonly Sign[]): Sign =>
  (findings) =>
    signs.every((sign) => sign(findings));

/** A component about which something is known, and nothing of this weight. */
const isClean =
  (component: Component, isGrave: (issue: Issue) => boolean): Sign =>
  (findings) =>
    findings[component] !== null && !findings[component].some(isGrave);

const isMoreThanLow = ({ severity }: Issue): boolean => severity !== "low" && severity !== "info";

const noDomain = has("dns", "MX_NXDOMAIN");
const noSpf = has("spf", "SPF_MISSING");
const noDkim = any(has("dkim", "DKIM_NXDOMAIN"), hasInFull("dkim", 100, "DKIM_REVOKED"));
const noDmarc = any(
  has("dmarc", "DMARC_MISSING", "DMARC_MULTIPLE", "DMARC_VERSION"),
  hasInFull("dmarc", 100, "DMARC_P_MISSING"),
);
const dmarcNone = has("dmarc", "DMARC_P_NONE", "DMARC_P_MISSING");

export const SIGNS = {
  noDomain,
  // A null MX of a domain that sends nothing costs nothing, and a host that leads nowhere counts where all do.
  noMx: any(
    noDomain,
    has("dns", "MX_NONE_NO_A", "MX_NULL"),
    hasInFull("dns", 40, "MX_TARGET_IP", "MX_TARGET_NX", "MX_TARGET_PRIVATE"),
  ),
  noSpf,
  // What makes every receiver's evaluation end in permerror (RFC 7208 §2.6.7).
  spfBroken: has(
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
  // A block of the whole internet says the same as +all.
  spfOpen: any(has("spf", "SPF_PLUS_ALL"), hasInFull("spf", 90, "SPF_WIDE_CIDR")),
  spfOk: isClean("spf", isMoreThanLow),
  noDkim,
  dkimUnknown: has("dkim", "DKIM_NOT_FOUND"),
  dkimOk: isClean("dkim", isMoreThanLow),
  unsigned: all(noSpf, noDkim),
  noDmarc,
  dmarcNone,
  dmarcEnforced: all(
    isClean("dmarc", () => false),
    (findings) => !noDmarc(findings) && !dmarcNone(findings),
  ),
  listedGravely: (findings) =>
    findings.reputation?.some(({ severity }) => severity === "critical") ?? false,
  notListed: isClean("reputation", ({ costPoints }) => costPoints > 0),
  noPtr: has("ptr", "PTR_MISSING"),
  ptrMismatch: has("ptr", "PTR_MISMATCH"),
  ptrGeneric: has("ptr", "PTR_GENERIC"),
  ptrConfirmed: isClean("ptr", ({ id }) => id === "PTR_MISSING" || id === "PTR_MISMATCH"),
} as const satisfies Record<string, Sign>;
