import type { Dns } from "../dns/dns.ts";
import { getRecords, isAbsent, isFault } from "../dns/dns.ts";
import type { Issue } from "../issue.ts";
import type { DmarcDiscovery, PlacedRecord } from "./discover.ts";
import { type DmarcRecord, isDmarc, type ReportAddress } from "./record.ts";
import { createDmarcIssue, type DmarcRule } from "./rules.ts";

/** RFC 9990 allows receivers to stop after two addresses. */
const REPORTS_MAX = 2;
const HOSTS_QUERIED_MAX = 4;

type ReportKind = {
  readonly getAddresses: (record: DmarcRecord) => readonly ReportAddress[];
  readonly bad: DmarcRule;
  readonly unauthorised: DmarcRule;
  readonly withoutMx: DmarcRule;
};

const AGGREGATE: ReportKind = {
  getAddresses: ({ reports }) => reports,
  bad: "DMARC_RUA_BAD",
  unauthorised: "DMARC_RUA_UNAUTHORIZED",
  withoutMx: "DMARC_RUA_NO_MX",
};

/** RFC 9991 applies the rules of aggregate reports to the addresses of failure reports. */
const FAILURE: ReportKind = {
  getAddresses: ({ failureReports }) => failureReports,
  bad: "DMARC_RUF_BAD",
  unauthorised: "DMARC_RUF_UNAUTHORIZED",
  withoutMx: "DMARC_RUF_NO_MX",
};

export const findReportIssues = async (
  dns: Dns,
  placed: PlacedRecord,
  discovery: DmarcDiscovery,
): Promise<readonly Issue[]> => {
  const found = await Promise.all(
    [AGGREGATE, FAILURE].map((kind) => findAddressIssues(dns, kind, placed, discovery)),
  );
  const missing = placed.record.reports.length === 0 ? [createDmarcIssue("DMARC_NO_RUA")] : [];
  return [...missing, ...found.flat()];
};

const findAddressIssues = async (
  dns: Dns,
  kind: ReportKind,
  placed: PlacedRecord,
  discovery: DmarcDiscovery,
): Promise<readonly Issue[]> => {
  const addresses = kind.getAddresses(placed.record);
  const domains = new Set(addresses.flatMap(({ domain }) => domain ?? []));
  const hosts = [...domains].slice(0, HOSTS_QUERIED_MAX);
  const found = await Promise.all(
    hosts.map(async (host) => {
      const [authorisation, mx] = await Promise.all([
        findMissingAuthorization(dns, host, placed, discovery),
        dns("MX", host),
      ]);
      return [
        ...(authorisation === undefined
          ? []
          : [createDmarcIssue(kind.unauthorised, { host, name: authorisation })]),
        ...(isAbsent(mx) ? [createDmarcIssue(kind.withoutMx, { host })] : []),
      ];
    }),
  );
  return [...findUriIssues(kind, addresses), ...dropRepeated(found.flat())];
};

const findUriIssues = (
  { bad }: ReportKind,
  addresses: readonly ReportAddress[],
): readonly Issue[] => {
  const invalid = addresses.find(({ isValid }) => !isValid);
  if (invalid) return [createDmarcIssue(bad, { fault: findUriFault(invalid) })];
  const faults = [
    addresses.length > REPORTS_MAX &&
      `it names more than ${REPORTS_MAX} addresses, and receivers need not read on`,
    addresses.some(({ isSized }) => isSized) &&
      "RFC 9989 removed the size after !, which older receivers still obey",
  ].filter((fault) => fault !== false);
  return faults.length > 0 ? [createDmarcIssue(bad, { fault: faults.join("; ") }, "lesser")] : [];
};

const findUriFault = ({ uri }: ReportAddress): string =>
  /^[^:]+@/.test(uri) ? `${uri} needs mailto: before it` : `${uri} is not an address to report to`;

/** RFC 9990: a domain must publish its consent to receive another organisation's reports. Returns the name that lacks this consent. */
const findMissingAuthorization = async (
  dns: Dns,
  host: string,
  { domain: from }: PlacedRecord,
  { organisation, isOpen }: DmarcDiscovery,
): Promise<string | undefined> => {
  const isSubdomain = (parent: string) => host === parent || host.endsWith(`.${parent}`);
  // If the tree walk is incomplete, the organisation may include more domains than we know.
  if (isSubdomain(organisation) || isSubdomain(from) || isOpen) return undefined;
  const isGiven = await takesReportsOf(dns, host, from);
  return isGiven === false ? toConsentName(host, from) : undefined;
};

const toConsentName = (host: string, from: string): string => `${from}._report._dmarc.${host}`;

export const takesReportsOf = async (
  dns: Dns,
  host: string,
  from: string,
): Promise<boolean | undefined> => {
  // A wildcard record also answers the first query; the second is for zones that publish a literal "*" name.
  const names = [toConsentName(host, from), toConsentName(host, "*")];
  const answers = await Promise.all(names.map((name) => dns("TXT", name)));
  if (answers.some((answer) => getRecords(answer).some(isDmarc))) return true;
  return answers.some(isFault) ? undefined : false;
};

const dropRepeated = (issues: readonly Issue[]): readonly Issue[] =>
  issues.filter((issue, index) => issues.findIndex(({ id }) => id === issue.id) === index);
