import type { Dns, DnsOutcome } from "../dns/dns.ts";
import { getRecords, isFault } from "../dns/dns.ts";
import { type DmarcPolicy, type DmarcRecord, isDmarc, isWeaker, parseDmarc } from "./record.ts";

export type PlacedRecord = { readonly domain: string; readonly record: DmarcRecord };

export type DmarcDiscovery = {
  readonly found: PlacedRecord | null;
  readonly organisation: string;
  /** A query of the tree walk failed, so the organisational domain is not certain. */
  readonly isOpen: boolean;
  readonly ownTexts: readonly string[];
  readonly multipleAt: readonly string[];
};

/** RFC 9989 §4.10 step 4: from the second name on at most seven labels, so eight queries in all. */
const LABELS_MAX = 7;

const listWalkNames = (domain: string): readonly string[] => {
  const labels = domain.split(".");
  const above = labels.slice(Math.max(1, labels.length - LABELS_MAX));
  return [domain, ...above.map((_, index) => above.slice(index).join("."))];
};

/** Finds the record that applies (RFC 9989 §4.10). It queries all names at once: at most eight queries cost less than eight waits. */
export const discover = async (dns: Dns, domain: string): Promise<DmarcDiscovery> => {
  const names = listWalkNames(domain);
  const answers = await Promise.all(names.map((name) => dns("TXT", `_dmarc.${name}`)));
  const steps = names.map((name, index) => createStep(name, answers[index] ?? { kind: "timeout" }));
  const end = steps.findIndex(({ placed }) => isEnd(placed));
  const walked = end < 0 ? steps : steps.slice(0, end + 1);

  const records = walked.flatMap(({ placed }) => (placed ? [placed] : []));
  const organisation = findOrganisation(domain, records);
  const ofPsd = records.find(({ record }) => record.psd === "y");
  const inherited = records.find((one) => one.domain === organisation) ?? ofPsd ?? null;
  const isOpen = walked.some(({ isFailed }) => isFailed);
  const own = records.find((one) => one.domain === domain);
  return {
    // A failed query may hide the record that applies, but not above the domain's own record, which always wins.
    found: own ?? (isOpen ? null : inherited),
    organisation,
    isOpen,
    ownTexts: steps[0]?.texts ?? [],
    multipleAt: walked.filter(({ isMultiple }) => isMultiple).map(({ name }) => name),
  };
};

const createStep = (name: string, outcome: DnsOutcome<string>) => {
  const texts = getRecords(outcome);
  const [record, ...others] = texts.filter(isDmarc);
  const isMultiple = others.length > 0;
  const placed =
    record === undefined || isMultiple ? null : { domain: name, record: parseDmarc(record) };
  return { name, texts, placed, isMultiple, isFailed: isFault(outcome) };
};

/** The tree walk ends at such a record (RFC 9989 §4.10 steps 2 and 6). */
const isEnd = (placed: PlacedRecord | null): boolean =>
  placed?.record.psd === "n" || placed?.record.psd === "y";

/** Finds the organisational domain as RFC 9989 §4.10.2 defines it. */
const findOrganisation = (domain: string, records: readonly PlacedRecord[]): string => {
  const last = records.at(-1);
  if (!last) return domain;
  if (last.record.psd !== "y" || last.domain === domain) return last.domain;
  const labels = last.domain.split(".").length + 1;
  return domain.split(".").slice(-labels).join(".");
};

/** RFC 9989 §4.10.1: returns the policy that a record requests for a domain, before testing counts. */
export const getPublishedPolicy = (
  { record, domain: at }: PlacedRecord,
  domain: string,
  exists: boolean,
): DmarcPolicy | null => {
  const { p, sp, np } = record;
  if (p === undefined || [p, sp, np].includes("invalid"))
    return record.reports.some(({ isValid }) => isValid) ? "none" : null;
  const forBelow = exists ? (sp ?? p) : (np ?? sp ?? p);
  return (at === domain ? p : forBelow) as DmarcPolicy;
};

export const WEAKER_POLICY: Readonly<Record<DmarcPolicy, DmarcPolicy>> = {
  reject: "quarantine",
  quarantine: "none",
  none: "none",
};

/** t=y asks receivers to apply the next weaker policy. */
export const getAppliedPolicy = (
  published: DmarcPolicy | null,
  { record }: PlacedRecord,
): DmarcPolicy | null =>
  published !== null && record.isTesting ? WEAKER_POLICY[published] : published;

export type WeakerTag = {
  readonly tag: "sp" | "np";
  readonly value: string;
  /** The policies that receivers apply: `applied` to the names that the tag covers, `policy` to the domain itself. */
  readonly applied: DmarcPolicy;
  readonly policy: DmarcPolicy;
};

export const listWeakerTags = (placed: PlacedRecord): readonly WeakerTag[] => {
  const apply = (name: string, exists: boolean) =>
    getAppliedPolicy(getPublishedPolicy(placed, name, exists), placed);
  const policy = apply(placed.domain, true);
  return (["sp", "np"] as const).flatMap((tag) => {
    const value = placed.record[tag];
    const applied = apply(`*.${placed.domain}`, tag === "sp");
    return value !== undefined && policy && applied && isWeaker(applied, policy)
      ? [{ tag, value, applied, policy }]
      : [];
  });
};
