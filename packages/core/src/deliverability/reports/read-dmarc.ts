import { POLICIES } from "../../mail/dmarc/record.ts";
import { assertRange, readCount, readDomain, readIp, readName, readTime } from "./read-fields.ts";
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

/**
 * A DMARC aggregate report (RFC 7489 appendix C, RFC 9990). Its elements may come in any order and namespace. What no
 * sum needs may be missing or unknown; a number, an address or a time that is wrong is a fault.
 */
export const readDmarcReport = (text: string): DmarcReport => {
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
  readXmlParts(text, ROOT, readPart);
  if (!metadata) throw new ReportFault(`${ROOT}.report_metadata`, "is missing");
  if (!published) throw new ReportFault(`${ROOT}.policy_published`, "is missing");
  return {
    type: "dmarc",
    ...readMetadata(metadata),
    domain: readDomain(`${ROOT}.policy_published.domain`, findText(published, "domain")),
    policy: readPolicy(published),
    rows,
    sources: sums.list(),
  };
};

const readMetadata = (metadata: XmlElement) => {
  const path = `${ROOT}.report_metadata`;
  const range = findChild(metadata, "date_range");
  const begin = readSeconds(`${path}.date_range.begin`, findText(range, "begin"));
  const end = readSeconds(`${path}.date_range.end`, findText(range, "end"));
  assertRange(`${path}.date_range`, begin, end);
  // Some receivers have only an address in path of a name, and its domain names them.
  const email = findText(metadata, "email")?.replace(/^.*@/s, "");
  return {
    reporter: readName(`${path}.org_name`, findText(metadata, "org_name") ?? email),
    reportId: readName(`${path}.report_id`, findText(metadata, "report_id")),
    begin,
    end,
  };
};

const readSeconds = (path: string, text: string | undefined): Date => {
  if (text === undefined) throw new ReportFault(path, "is missing");
  // Some receivers add a fraction.
  if (!/^\d{1,15}(?:\.\d{1,9})?$/.test(text))
    throw new ReportFault(path, "must be a time in seconds since 1970");
  return readTime(path, Math.floor(Number(text)) * 1_000);
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
  return {
    ip: readIp(`${path}.row.source_ip`, findText(row, "source_ip")),
    messages: readCount(`${path}.row.count`, findText(row, "count")),
    isSpfAligned: readVerdict(evaluated, "spf") ?? spf.some((domain) => isRelated(domain, from)),
    isDkimAligned: readVerdict(evaluated, "dkim") ?? dkim.some((domain) => isRelated(domain, from)),
    disposition: toWord<Disposition>(DISPOSITIONS, findText(evaluated, "disposition")) ?? "unknown",
    reasons: listChildren(evaluated, "reason").flatMap((reason) => readReason(reason) ?? []),
    authenticated: [...new Set([...spf, ...dkim])],
  };
};

const readReason = (reason: XmlElement): OverrideReason | undefined => {
  const text = findText(reason, "type");
  return text === undefined ? undefined : (toWord(OVERRIDE_REASONS, text) ?? "other");
};

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

/** For a report without the verdicts of the receiver: the same domain, or one below the other. */
const isRelated = (domain: string, from: string | undefined): boolean =>
  from !== undefined &&
  (domain === from || domain.endsWith(`.${from}`) || from.endsWith(`.${domain}`));
