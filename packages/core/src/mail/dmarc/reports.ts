import type { Dns } from "../dns/dns.ts";
import { getRecords, isAbsent, isFault } from "../dns/outcome.ts";
import type { Issue } from "../issue.ts";
import type { DmarcDiscovery, PlacedRecord } from "./discover.ts";
import { type DmarcRecord, isDmarc, type ReportAddress } from "./record.ts";
import { createDmarcIssue } from "./rules.ts";

/** RFC 9990 allows receivers to stop after two. */
const REPORTS_MAX = 2;
/** At most this many are checked. */
const HOSTS_QUERIED_MAX = 4;

/** The faults of a record's aggregate report addresses. */
export const findReportIssues = async (
  dns: Dns,
  placed: PlacedRecord,
  discovery: DmarcDiscovery,
): Promise<readonly Issue[]> => {
  const { reports } = placed.record;
  if (reports.length === 0) return [createDmarcIssue("DMARC_NO_RUA")];
  const hosts = [...new Set(reports.flatMap(({ domain }) => domain ?? []))].slice(
    0,
    HOSTS_QUERIED_MAX,
  );
  const found = await Promise.all(
    hosts.map(async (host) => [
      ...(await findAuthorisationIssues(dns, host, placed, discovery)),
      ...(await findMailIssues(dns, host)),
    ]),
  );
  return [...findUriIssues(placed.record), ...dropRepeated(found.flat())];
};

const findUriIssues = ({ reports }: DmarcRecord): readonly Issue[] => {
  const bad = reports.find(({ isValid }) => !isValid);
  if (bad) return [createDmarcIssue("DMARC_RUA_BAD", { fault: findUriFault(bad) })];
  const isSized = reports.some((report) => report.isSized);
  const isLong = reports.length > REPORTS_MAX;
  if (!isSized && !isLong) return [];
  const fault = isLong ? `it names more than ${REPORTS_MAX} addresses` : "!size was removed";
  return [createDmarcIssue("DMARC_RUA_BAD", { fault }, "lesser")];
};

const findUriFault = ({ uri }: ReportAddress): string =>
  /^[^:]+@/.test(uri) ? `${uri} needs mailto: before it` : `${uri} is no address to report to`;

/** RFC 9990: a domain must publish its consent to receive another organisation's reports. */
const findAuthorisationIssues = async (
  dns: Dns,
  host: string,
  { domain: from }: PlacedRecord,
  { organisation, isOpen }: DmarcDiscovery,
): Promise<readonly Issue[]> => {
  const isSubdomain = (parent: string) => host === parent || host.endsWith(`.${parent}`);
  // If the tree walk is incomplete, the organisation may be larger than it seems.
  if (isSubdomain(organisation) || isSubdomain(from) || isOpen) return [];
  const name = `${from}._report._dmarc.${host}`;
  // A wildcard answers the first query too; the second is for zones without a wildcard.
  const answers = await Promise.all([dns("TXT", name), dns("TXT", `*._report._dmarc.${host}`)]);
  if (answers.some((answer) => isFault(answer) || getRecords(answer).some(isDmarc))) return [];
  return [createDmarcIssue("DMARC_RUA_UNAUTHORIZED", { host, name })];
};

const findMailIssues = async (dns: Dns, host: string): Promise<readonly Issue[]> =>
  isAbsent(await dns("MX", host)) ? [createDmarcIssue("DMARC_RUA_NO_MX", { host })] : [];

const dropRepeated = (issues: readonly Issue[]): readonly Issue[] =>
  issues.filter((issue, index) => issues.findIndex(({ id }) => id === issue.id) === index);
