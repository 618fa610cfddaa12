import type { Dns } from "../dns/dns.ts";
import { getRecords, isFault } from "../dns/dns.ts";
import type { Issue } from "../issue.ts";
import { type IssueStatus, joinNames, scoreIssues, toStatus } from "../issue-rules.ts";
import { isSpf } from "../spf/parse.ts";
import {
  type DmarcDiscovery,
  discover,
  getAppliedPolicy,
  getPublishedPolicy,
  listWeakerTags,
  type PlacedRecord,
  type WeakerTag,
} from "./discover.ts";
import {
  type DmarcPolicy,
  type DmarcRecord,
  findTag,
  isDmarc,
  isIntendedAsDmarc,
  isPartial,
} from "./record.ts";
import { findReportIssues } from "./reports.ts";
import { createDmarcIssue } from "./rules.ts";
import { TAG_VALUES } from "./tag-values.ts";

export type DmarcAnalysis = {
  readonly status: IssueStatus | "missing" | "error";
  readonly record: string | null;
  readonly recordDomain: string | null;
  readonly organisation: string;
  /** The policy for forged mail, after testing and inheritance. Null when the domain has no policy, or an unknown one. */
  readonly policy: DmarcPolicy | null;
  readonly score: number | null;
  readonly issues: readonly Issue[];
};

/** Finds the DMARC record that applies to a domain (RFC 9989), and all its faults. */
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
    ...findOwnNameIssues(domain, discovery),
    ...findMisplaced(domain, getRecords(apex), discovery),
  ];
  if (!found) return analyseMissing(domain, discovery, around);

  // RFC 9989 §3: a name does not exist when a query of any type gives NXDOMAIN.
  const exists = apex.kind !== "nxdomain" && itself.kind !== "nxdomain";
  const published = getPublishedPolicy(found, domain, exists);
  const isInDoubt = isFault(apex) && isFault(itself);
  if (isInDoubt && published !== getPublishedPolicy(found, domain, !exists))
    return analyseMissing(domain, { ...discovery, isOpen: true }, around);
  const policy = getAppliedPolicy(published, found);
  const issues = [
    ...around,
    ...createPolicyIssues(found, domain, published, policy),
    ...createTagIssues(found),
    ...(await findReportIssues(dns, found, discovery)),
  ];
  return {
    status: toStatus(issues),
    record: found.record.text,
    recordDomain: found.domain,
    organisation,
    // A repeated tag makes the record invalid, so no receiver is known to apply its policy.
    policy: found.record.repeatedTags.length > 0 ? null : policy,
    score: scoreIssues(issues),
    issues,
  };
};

const analyseMissing = (
  domain: string,
  { organisation, isOpen }: DmarcDiscovery,
  around: readonly Issue[],
): DmarcAnalysis => {
  const nothing = { record: null, recordDomain: null, organisation, policy: null };
  const isBroken = around.some(({ id }) => id === "DMARC_MULTIPLE" || id === "DMARC_VERSION");
  if (isBroken) return { ...nothing, status: "fail", score: 0, issues: around };
  if (isOpen) {
    const issues = [...around, createDmarcIssue("DMARC_INCONCLUSIVE")];
    return { ...nothing, status: "error", score: null, issues };
  }
  const issues = [createDmarcIssue("DMARC_MISSING", { domain }), ...around];
  return { ...nothing, status: "missing", score: 0, issues };
};

const findOwnNameIssues = (
  domain: string,
  { found, isOpen, ownTexts, multipleAt }: DmarcDiscovery,
): readonly Issue[] => {
  const [name] = multipleAt;
  // A parent's records matter only if the domain has no record without them.
  if (name !== undefined && (name === domain || (!found && !isOpen))) {
    const n = name === domain ? ownTexts.filter(isDmarc).length : 2;
    return [
      createDmarcIssue("DMARC_MULTIPLE", {
        n,
        name: `_dmarc.${name}`,
        effect: describeEffect(found),
      }),
    ];
  }
  const isMistaken = !ownTexts.some(isDmarc) && ownTexts.some(isMistakenVersion);
  return isMistaken ? [createDmarcIssue("DMARC_VERSION", { name: `_dmarc.${domain}` })] : [];
};

/**
 * RFC 9989 §4.10 discards such a set and continues with the records of the parents. RFC 7489 §6.6.3, which most receivers still follow,
 * stops: it queries the organisational domain only when the set is empty.
 */
const describeEffect = (found: PlacedRecord | null): string =>
  found
    ? `receivers on RFC 7489 apply no DMARC policy then, those on RFC 9989 the one of ${found.domain}`
    : "receivers take none of them";

const isMistakenVersion = (text: string): boolean => isIntendedAsDmarc(text) && !isIndented(text);

const isIndented = (text: string): boolean => /^\s/.test(text) && isDmarc(text.trimStart());

const findMisplaced = (
  domain: string,
  apexTexts: readonly string[],
  { found, ownTexts }: DmarcDiscovery,
): readonly Issue[] => {
  const otherTexts = ownTexts.filter((text) => !isDmarc(text) && !isIntendedAsDmarc(text));
  const what = [
    apexTexts.some(isDmarc) &&
      `The DMARC record stands at ${domain} and belongs at _dmarc.${domain}`,
    ownTexts.some(isIndented) && `The DMARC record at _dmarc.${domain} starts with a space`,
    otherTexts.some(isSpf) && `An SPF record stands at _dmarc.${domain} and belongs at ${domain}`,
    otherTexts.some((text) => !isSpf(text)) && `There are other texts at _dmarc.${domain}`,
  ].filter((sentence) => sentence !== false);
  // If no record applies, a record in the wrong place is the reason.
  const isWhy = !found && (apexTexts.some(isDmarc) || ownTexts.some(isIndented));
  return what.length > 0
    ? [createDmarcIssue("DMARC_WRONG_PLACE", { what: what.join("; ") }, isWhy ? "full" : "lesser")]
    : [];
};

const createPolicyIssues = (
  placed: PlacedRecord,
  domain: string,
  published: DmarcPolicy | null,
  policy: DmarcPolicy | null,
): readonly Issue[] => {
  const { record } = placed;
  const isOwn = placed.domain === domain;
  const inherited = isOwn
    ? []
    : [createDmarcIssue("DMARC_INHERITED", { domain, from: placed.domain })];
  const invalid = (["p", "sp", "np"] as const).find((tag) => record[tag] === "invalid");
  if (published === null || invalid !== undefined) {
    const effect = published ? "read the policy as none" : "apply no DMARC policy";
    const detail = { tag: invalid ?? "p", effect };
    return [
      ...inherited,
      createDmarcIssue("DMARC_P_MISSING", detail, published ? "lesser" : "full"),
    ];
  }
  return [
    ...inherited,
    ...createStrengthIssues(domain, record, { published, policy: policy ?? "none" }),
    ...(isOwn ? listWeakerTags(placed).map((weaker) => createWeakerIssue(placed, weaker)) : []),
  ];
};

const createStrengthIssues = (
  domain: string,
  { p }: DmarcRecord,
  { published, policy }: { readonly published: DmarcPolicy; readonly policy: DmarcPolicy },
): readonly Issue[] => {
  if (policy !== published)
    return [
      createDmarcIssue("DMARC_T_Y", { published, policy }, policy === "none" ? "full" : "lesser"),
    ];
  if (policy === "quarantine")
    return [createDmarcIssue("DMARC_P_QUARANTINE", { domain, next: "p=reject" })];
  if (policy === "reject") return [];
  const next = "p=quarantine and then to p=reject";
  const why = p === undefined && { why: ", because the record has no p=" };
  return [createDmarcIssue("DMARC_P_NONE", { domain, ...why, next })];
};

const createWeakerIssue = (
  { domain, record }: PlacedRecord,
  { tag, value, applied, policy }: WeakerTag,
): Issue => {
  const detail = { domain, [tag]: value, applied, policy };
  if (tag === "np") return createDmarcIssue("DMARC_NP", detail);
  const names = record.np === undefined ? "all subdomains" : "existing subdomains";
  return createDmarcIssue(
    "DMARC_SP_WEAK",
    { ...detail, names },
    applied === "none" ? "full" : "lesser",
  );
};

const DEFINED_TAGS = new Set(`v p sp np psd t adkim aspf rua ruf fo pct rf ri`.split(" "));

/** The message shows this number of a value's characters, because five values have to fit into it. */
const VALUE_SHOWN_MAX = 16;

const listMisreadTags = ({ record }: PlacedRecord): readonly string[] =>
  TAG_VALUES.flatMap(([tag, isValue, readAs]) => {
    const value = findTag(record, tag);
    if (value === undefined || isValue(value)) return [];
    return [`${tag}=${value.slice(0, VALUE_SHOWN_MAX)} as ${readAs}`];
  });

const createTagIssues = (placed: PlacedRecord): readonly Issue[] => {
  const { record } = placed;
  const has = (name: string) => findTag(record, name) !== undefined;
  const undefinedTags = record.tags
    .map(({ name }) => name)
    .filter((name) => !DEFINED_TAGS.has(name));
  const unknown = [...undefinedTags, ...record.strays];
  const misread = listMisreadTags(placed);
  const strict = ["adkim", "aspf"].filter((name) => findTag(record, name)?.toLowerCase() === "s");
  const pct = findTag(record, "pct");
  return [
    ...(pct === undefined
      ? []
      : [createDmarcIssue("DMARC_PCT", { pct }, isPartial(pct) ? "full" : "lesser")]),
    ...(has("rf") ? [createDmarcIssue("DMARC_RF")] : []),
    ...(has("ri") ? [createDmarcIssue("DMARC_RI")] : []),
    ...(unknown.length > 0
      ? [createDmarcIssue("DMARC_UNKNOWN_TAG", { tags: joinNames(unknown) })]
      : []),
    ...(misread.length > 0
      ? [createDmarcIssue("DMARC_TAG_VALUE", { tags: misread.join(", ") })]
      : []),
    ...(record.repeatedTags.length > 0
      ? [createDmarcIssue("DMARC_DUP_TAG", { tags: joinNames(record.repeatedTags) })]
      : []),
    ...(strict.length > 0 ? [createDmarcIssue("DMARC_STRICT", { tags: joinNames(strict) })] : []),
  ];
};
