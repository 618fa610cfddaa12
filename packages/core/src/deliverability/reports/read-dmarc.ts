import { POLICIES } from "@mailproof/mail/dmarc/record";
import {
  type ReadContext,
  type ReadTime,
  readCount,
  readDomain,
  readIp,
  readName,
  readRange,
  toTime,
  UNNAMED_REPORTER,
} from "./read-fields.ts";
import {
  DISPOSITIONS,
  type Disposition,
  type DmarcReport,
  OVERRIDE_REASONS,
  type OverrideReason,
  type PublishedPolicy,
} from "./report.ts";
import { ReportFault } from "./report-fault.ts";
import { createSourceSums, type ReportRow } from "./source-sums.ts";
import {
  findChild,
  findText,
  listChildren,
  readXmlParts,
  type XmlElement,
} from "./xml-elements.ts";

const ROOT = "feedback";
const RECORDS_MAX = 100_000;

const NEEDED: ReadonlySet<string> = new Set(
  `record row source_ip count policy_evaluated disposition dkim spf reason type identifiers header_from auth_results
  domain result policy_published p sp np pct testing t discovery_method`.split(/\s+/),
);

/**
 * Reads a DMARC aggregate report (RFC 7489 appendix C, RFC 9990), with elements in any order and namespace. Elements outside
 * the sums may be missing, unknown or broken; a wrong number, address or policy is a fault.
 */
export const readDmarcReport = (text: string, reading: ReadContext): DmarcReport => {
  let metadata: XmlElement | undefined;
  let published: XmlElement | undefined;
  let rows = 0;
  const sums = createSourceSums();
  const readPart = (part: XmlElement): void => {
    if (part.name === "report_metadata") metadata ??= part;
    else if (part.name === "policy_published") published ??= part;
    else if (part.name === "record") {
      rows++;
      if (rows > RECORDS_MAX) throw new ReportFault(ROOT, `has more than ${RECORDS_MAX} records`);
      sums.add(readRecord(part, `${ROOT}.record[${rows}]`));
    }
  };
  readXmlParts(text, { root: ROOT, needed: NEEDED, onPart: readPart, note: reading.note });
  if (!metadata) throw new ReportFault(`${ROOT}.report_metadata`, "is missing");
  if (!published) throw new ReportFault(`${ROOT}.policy_published`, "is missing");
  return {
    type: "dmarc",
    ...readMetadata(metadata, reading),
    domain: readDomain(`${ROOT}.policy_published.domain`, findText(published, "domain")),
    policy: readPolicy(published),
    rows,
    sources: sums.list(),
  };
};

const readMetadata = (metadata: XmlElement, reading: ReadContext) => {
  const path = `${ROOT}.report_metadata`;
  const range = findChild(metadata, "date_range");
  const readEnd = (name: "begin" | "end"): ReadTime =>
    readSeconds(`${path}.date_range.${name}`, findText(range, name));
  // Some reporters send an address instead of a name, so its domain becomes the name.
  const email = findText(metadata, "email")?.replace(/^.*@/s, "");
  const name = findText(metadata, "org_name") ?? email;
  return {
    reporter: readName(reading, `${path}.org_name`, name) ?? UNNAMED_REPORTER,
    reportId:
      readName(reading, `${path}.report_id`, findText(metadata, "report_id")) ?? reading.createId(),
    ...readRange(reading, `${path}.date_range`, { begin: readEnd("begin"), end: readEnd("end") }),
  };
};

const readSeconds = (path: string, text: string | undefined): ReadTime => {
  if (text === undefined) return { path, what: "is missing" };
  // Some reporters add a fraction of a second.
  if (!/^\d{1,15}(?:\.\d{1,9})?$/.test(text))
    return { path, what: "must be a time in seconds since 1970" };
  return toTime(path, Math.floor(Number(text)) * 1_000);
};

const readPolicy = (published: XmlElement): PublishedPolicy => {
  const method = findText(published, "discovery_method")?.toLowerCase();
  const pct = findText(published, "pct");
  return {
    p: toWord(POLICIES, findText(published, "p")),
    sp: toWord(POLICIES, findText(published, "sp")),
    np: toWord(POLICIES, findText(published, "np")),
    pct: pct !== undefined && /^(?:100|\d{1,2})$/.test(pct) ? Number(pct) : null,
    isTesting: (findText(published, "testing") ?? findText(published, "t"))?.toLowerCase() === "y",
    discoveryMethod: method === "psl" || method === "treewalk" ? method : null,
  };
};

const toWord = <T extends string>(words: readonly T[], text: string | undefined): T | null =>
  words.find((word) => word === text?.toLowerCase()) ?? null;

const readRecord = (record: XmlElement, path: string): ReportRow => {
  const row = findChild(record, "row");
  if (!row) throw new ReportFault(`${path}.row`, "is missing");
  const evaluated = findChild(row, "policy_evaluated");
  const identifiers = findChild(record, "identifiers");
  const from = findText(identifiers, "header_from")?.toLowerCase();
  const results = listChildren(record, "auth_results").flatMap(({ children }) => children);
  const passed = results.filter((result) => findText(result, "result")?.toLowerCase() === "pass");
  const domainsOf = (method: string): readonly string[] =>
    passed.filter(({ name }) => name === method).flatMap((result) => toAuthDomain(result) ?? []);
  const spf = domainsOf("spf");
  const dkim = domainsOf("dkim");
  const reasons = listChildren(evaluated, "reason");
  return {
    ip: readIp(`${path}.row.source_ip`, findText(row, "source_ip")),
    messages: readCount(`${path}.row.count`, findText(row, "count")),
    isSpfAligned: readVerdict(evaluated, "spf") ?? spf.some((domain) => isRelated(domain, from)),
    isDkimAligned: readVerdict(evaluated, "dkim") ?? dkim.some((domain) => isRelated(domain, from)),
    disposition: toWord<Disposition>(DISPOSITIONS, findText(evaluated, "disposition")) ?? "unknown",
    reasons: reasons.flatMap((reason) => readReason(reason) ?? []),
    isForwarded: reasons.some(isForwarding),
    authenticated: [...new Set([...spf, ...dkim])],
  };
};

const readReason = (reason: XmlElement): OverrideReason | undefined => {
  const text = findText(reason, "type");
  return text === undefined ? undefined : (toWord(OVERRIDE_REASONS, text) ?? "other");
};

const FORWARDING: readonly (OverrideReason | undefined)[] = [
  "forwarded",
  "mailing_list",
  "trusted_forwarder",
];

/** RFC 8617 §7.2.2: a receiver that trusts the ARC chain of a forwarder reports local_policy with the comment arc=pass. */
const isForwarding = (reason: XmlElement): boolean =>
  FORWARDING.includes(readReason(reason)) ||
  /\barc\s*=\s*pass\b/i.test(findText(reason, "comment") ?? "");

const readVerdict = (
  evaluated: XmlElement | undefined,
  method: "spf" | "dkim",
): boolean | undefined => {
  const verdict = findText(evaluated, method)?.toLowerCase();
  return verdict === "pass" ? true : verdict === "fail" ? false : undefined;
};

const AUTH_DOMAIN = /^[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})+$/;

const toAuthDomain = (result: XmlElement): string | undefined => {
  const domain = findText(result, "domain")?.toLowerCase().replace(/\.$/, "") ?? "";
  return domain.length <= 253 && AUTH_DOMAIN.test(domain) ? domain : undefined;
};

/** For a report without the receiver's verdicts: equal domains are related, and so are parent and subdomain. */
const isRelated = (domain: string, from: string | undefined): boolean =>
  from !== undefined &&
  (domain === from || domain.endsWith(`.${from}`) || from.endsWith(`.${domain}`));
