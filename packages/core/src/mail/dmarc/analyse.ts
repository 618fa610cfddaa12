import type { Dns } from "../dns/dns.ts";
import { isFault, recordsOf } from "../dns/outcome.ts";
import type { Issue } from "../issue.ts";
import { named, type Status, scoreOf, statusOf } from "../rules.ts";
import { isSpf } from "../spf/parse.ts";
import {
  appliedPolicy,
  type Discovery,
  discover,
  type Placed,
  publishedPolicy,
} from "./discover.ts";
import { isDmarc, isMeantAsDmarc, POLICIES, type Policy, tagOf } from "./record.ts";
import { ofReports } from "./reports.ts";
import { dmarcIssue } from "./rules.ts";

export type DmarcAnalysis = {
  readonly status: Status | "missing" | "error";
  /** The text that counts for the domain. */
  readonly record: string | null;
  /** Where it stands. */
  readonly recordDomain: string | null;
  readonly organisation: string;
  /** What receivers are asked to do, testing and inheritance considered. Null: nothing, or not known. */
  readonly policy: Policy | null;
  readonly score: number | null;
  readonly issues: readonly Issue[];
};

/** The DMARC record that counts for a domain, by RFC 9989, and everything that is wrong with it. */
export const analyseDmarc = async (
  dns: Dns,
  { domain }: { readonly domain: string },
): Promise<DmarcAnalysis> => {
  const [discovery, apex, itself] = await Promise.all([
    discover(dns, domain),
    dns("TXT", domain),
    dns("MX", domain),
  ]);
  const { found, organisation } = discovery;
  const around = [
    ...atOwnName(domain, discovery),
    ...misplaced(domain, recordsOf(apex), discovery),
  ];
  if (!found) return withoutRecord(domain, discovery, around);

  // RFC 9989 §3: a name does not exist when the answer is NXDOMAIN, whatever was asked for.
  const exists = apex.kind !== "nxdomain" && itself.kind !== "nxdomain";
  const published = publishedPolicy(found, domain, exists);
  const isInDoubt = isFault(apex) && isFault(itself);
  if (isInDoubt && published !== publishedPolicy(found, domain, !exists))
    return withoutRecord(domain, { ...discovery, isOpen: true }, around);
  const policy = appliedPolicy(published, found);
  const issues = [
    ...around,
    ...ofPolicy(found, domain, published, policy),
    ...ofTags(found),
    ...(await ofReports(dns, found, discovery)),
  ];
  return {
    status: statusOf(issues),
    record: found.record.text,
    recordDomain: found.domain,
    organisation,
    policy,
    score: scoreOf(issues),
    issues,
  };
};

const withoutRecord = (
  domain: string,
  { organisation, isOpen }: Discovery,
  around: readonly Issue[],
): DmarcAnalysis => {
  const nothing = { record: null, recordDomain: null, organisation, policy: null };
  const isBroken = around.some(({ id }) => id === "DMARC_MULTIPLE" || id === "DMARC_VERSION");
  if (isBroken) return { ...nothing, status: "fail", score: 0, issues: around };
  if (isOpen) {
    const issues = [...around, dmarcIssue("DMARC_INCONCLUSIVE")];
    return { ...nothing, status: "error", score: null, issues };
  }
  const issues = [dmarcIssue("DMARC_MISSING", { domain }), ...around];
  return { ...nothing, status: "missing", score: 0, issues };
};

/** Records that were meant to count and do not. */
const atOwnName = (
  domain: string,
  { found, isOpen, ownTexts, multipleAt }: Discovery,
): readonly Issue[] => {
  const [place] = multipleAt;
  // Above the domain it matters only where it leaves the domain without a record.
  if (place !== undefined && (place === domain || (!found && !isOpen))) {
    const n = place === domain ? ownTexts.filter(isDmarc).length : 2;
    return [dmarcIssue("DMARC_MULTIPLE", { n, name: `_dmarc.${place}` })];
  }
  const isMistaken = !ownTexts.some(isDmarc) && ownTexts.some(isMistakenVersion);
  return isMistaken ? [dmarcIssue("DMARC_VERSION", { name: `_dmarc.${domain}` })] : [];
};

const isMistakenVersion = (text: string): boolean => isMeantAsDmarc(text) && !isIndented(text);

/** Sound but for the space before it, which makes it no record. */
const isIndented = (text: string): boolean => /^\s/.test(text) && isDmarc(text.trimStart());

/** What stands where it does not belong. */
const misplaced = (
  domain: string,
  apexTexts: readonly string[],
  { found, ownTexts }: Discovery,
): readonly Issue[] => {
  const strangers = ownTexts.filter((text) => !isDmarc(text) && !isMeantAsDmarc(text));
  const what = [
    apexTexts.some(isDmarc) &&
      `The DMARC record stands at ${domain} and belongs at _dmarc.${domain}`,
    ownTexts.some(isIndented) && `The DMARC record at _dmarc.${domain} begins with a space`,
    strangers.some(isSpf) && `An SPF record stands at _dmarc.${domain} and belongs at ${domain}`,
    strangers.some((text) => !isSpf(text)) && `There are other texts at _dmarc.${domain}`,
  ].filter((sentence) => sentence !== false);
  // Where nothing counts, a record that was only put in the wrong place is why.
  const isWhy = !found && (apexTexts.some(isDmarc) || ownTexts.some(isIndented));
  return what.length > 0
    ? [dmarcIssue("DMARC_WRONG_PLACE", { what: what.join("; ") }, isWhy ? "full" : "lesser")]
    : [];
};

const strength = (policy: Policy): number => POLICIES.indexOf(policy);

const ofPolicy = (
  placed: Placed,
  domain: string,
  published: Policy | null,
  policy: Policy | null,
): readonly Issue[] => {
  const { p, sp, np } = placed.record;
  const inherited =
    placed.domain === domain
      ? []
      : [dmarcIssue("DMARC_INHERITED", { domain, from: placed.domain })];
  if (p === undefined || p === "invalid" || sp === "invalid" || np === "invalid") {
    const tag = p === undefined || p === "invalid" ? "p" : sp === "invalid" ? "sp" : "np";
    return [...inherited, dmarcIssue("DMARC_P_MISSING", { tag }, published ? "lesser" : "full")];
  }
  const isOwn = inherited.length === 0;
  const forMissing = np ?? sp ?? p;
  return [
    ...inherited,
    ...(published === "none" ? [dmarcIssue("DMARC_P_NONE", { domain })] : []),
    ...(published === "quarantine" ? [dmarcIssue("DMARC_P_QUARANTINE", { domain })] : []),
    ...(isOwn && sp === "none" && p !== "none" ? [dmarcIssue("DMARC_SP_WEAK", { p })] : []),
    ...(isOwn && (np === undefined || strength(forMissing) < strength(p))
      ? [dmarcIssue("DMARC_NP", { domain, np: np ?? "absent" })]
      : []),
    ...(placed.record.isTesting && published !== null && published !== "none"
      ? [dmarcIssue("DMARC_T_Y", { published, policy: policy ?? "none" })]
      : []),
  ];
};

const KNOWN = new Set(`v p sp np psd t adkim aspf rua ruf fo pct rf ri`.split(" "));

const ofTags = ({ record }: Placed): readonly Issue[] => {
  const has = (name: string) => tagOf(record, name) !== undefined;
  const unknown = record.tags.map(({ name }) => name).filter((name) => !KNOWN.has(name));
  const strict = ["adkim", "aspf"].filter((name) => tagOf(record, name)?.toLowerCase() === "s");
  const pct = tagOf(record, "pct");
  return [
    ...(pct === undefined
      ? []
      : [dmarcIssue("DMARC_PCT", { pct }, isPartial(pct) ? "full" : "lesser")]),
    ...(has("rf") ? [dmarcIssue("DMARC_RF")] : []),
    ...(has("ri") ? [dmarcIssue("DMARC_RI")] : []),
    ...(unknown.length > 0 ? [dmarcIssue("DMARC_UNKNOWN_TAG", { tags: named(unknown) })] : []),
    ...(record.repeatedTags.length > 0
      ? [dmarcIssue("DMARC_DUP_TAG", { tags: named(record.repeatedTags) })]
      : []),
    ...(strict.length > 0 ? [dmarcIssue("DMARC_STRICT", { tags: named(strict) })] : []),
  ];
};

const isPartial = (pct: string): boolean => /^\d{1,3}$/.test(pct) && Number(pct) < 100;
