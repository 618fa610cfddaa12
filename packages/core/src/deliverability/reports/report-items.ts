import * as v from "valibot";
import { compressJson, decompressJson } from "../../lib/compress.ts";
import { fingerprint } from "../../lib/fingerprint.ts";
import { paginateQuery } from "../../lib/paginate-query.ts";
import { DAY_MS, toEpochSeconds, toUtcDay } from "../../lib/time.ts";
import type { Item, Json, Key, Table, Write } from "../../ports/table.ts";
import { type DmarcReport, getReportDay, type Report, type TlsReport } from "./report.ts";
import { mergeSources } from "./source-sums.ts";

// Layout. A report is one item. A read merges it with the other reports of its domain. The report's identity is its key, so a
// report that arrives twice is stored once.
//
//   pk                           sk                content
//   REPORTS#<owner>#<domain>     <day>#<hash>      one report, compressed. The hash is of type, reporter and report id
//   OTHERREPORTS#<owner>#<domain> as above         a report in mail that did not pass DMARC: it replaces no other report
//   REPORTBYTES#<owner>          <day received>    bytes: the bytes of reports that uploads stored that day
//   REPORTBYTES#<owner>          <day>#mail        the bytes of reports that came by mail
//   REPORTALERT#<owner>#<domain> ALERT             an event about unaligned mail was emitted; expires when the next one may be

/** The reports of a domain: `isAuthenticated` selects uploads and mail that passed DMARC, otherwise the rest. */
type ReportSet = {
  readonly owner: string;
  readonly domain: string;
  readonly isAuthenticated: boolean;
};

const toPartition = ({ owner, domain, isAuthenticated }: ReportSet): string => {
  if (isAuthenticated) return `REPORTS#${owner}#${domain}`;
  return `OTHERREPORTS#${owner}#${domain}`;
};

export const toReportKey = (owner: string, report: Report, isAuthenticated: boolean): Key => {
  const { type, reporter, reportId, domain } = report;
  return {
    pk: toPartition({ owner, domain, isAuthenticated }),
    sk: `${getReportDay(report)}#${fingerprint([type, reporter.toLowerCase(), reportId])}`,
  };
};

/** An item has at most 250 KB with its keys and field names. */
const PACKED_LENGTH_MAX = 200_000;
const SOURCES_MAX = 2_000;

/** Stores a report. When a report has too many addresses, the largest stay separate and the others become one sum. */
export const packReport = (report: Report): string => {
  if (report.type === "tls") return compress(report);
  for (let limit = SOURCES_MAX; ; limit = Math.floor(limit / 2)) {
    const packed = compress({ ...report, sources: limitSources(report.sources, limit) });
    if (packed.length <= PACKED_LENGTH_MAX) return packed;
  }
};

const limitSources = (sources: DmarcReport["sources"], most: number): DmarcReport["sources"] =>
  sources.length <= most
    ? sources
    : [...sources.slice(0, most), mergeSources(sources.slice(most), null)];

const compress = (report: Report): string => {
  const { begin, end, ...fields } = report;
  const stored = { ...fields, begin: begin.toISOString(), end: end.toISOString() };
  return compressJson(stored as unknown as Json);
};

export const toReportItem = (
  key: Key,
  packed: string,
  options: { readonly by: string; readonly expiresAt: number },
): Item => ({ ...key, report: packed, by: options.by, expires_at: options.expiresAt });

const Stored = v.looseObject({ begin: v.string(), end: v.string() });

const parseItem = (item: Item): Report => {
  const stored = v.parse(Stored, decompressJson(v.parse(v.string(), item["report"])));
  const { begin, end, ...fields } = stored;
  return { ...fields, begin: new Date(begin), end: new Date(end) } as unknown as
    | DmarcReport
    | TlsReport;
};

/** Sorts after every key of a day. */
const LAST = "~";

export async function* iterateReports(
  table: Table,
  {
    since,
    until = "",
    ...set
  }: ReportSet & { readonly since: string; readonly until?: string | undefined },
): AsyncGenerator<Report> {
  const query = {
    pk: toPartition(set),
    sk: { from: since, to: `${until}${LAST}` },
    newestFirst: true,
    pageSize: 50,
  };
  for await (const item of paginateQuery(table, query)) yield parseItem(item);
}

/** Finds the first and the last day with a stored report about the domain. Null without any. */
export const findStoredDays = async (
  table: Table,
  { owner, domain }: Pick<ReportSet, "owner" | "domain">,
): Promise<{ readonly first: string; readonly last: string } | null> => {
  const findDay = async (isAuthenticated: boolean, newestFirst: boolean): Promise<string[]> => {
    const pk = toPartition({ owner, domain, isAuthenticated });
    for await (const { sk } of paginateQuery(table, { pk, newestFirst, pageSize: 1 }))
      return [sk.slice(0, "2026-11-21".length)];
    return [];
  };
  const found = await Promise.all(
    [true, false].flatMap((one) => [findDay(one, false), findDay(one, true)]),
  );
  const days = found.flat().toSorted();
  const [first, last] = [days[0], days.at(-1)];
  return first === undefined || last === undefined ? null : { first, last };
};

/** Reports are free, so this limits the storage of one account: about 30,000 reports of usual size per day. */
export const BYTES_PER_DAY_MAX = 100_000_000;

/** Any host may send mail, so mail has a separate limit and uses nothing of the uploads' limit. */
export type ReportWay = "upload" | "mail";

export const addStoredBytes = (
  owner: string,
  { way, now, bytes }: { readonly way: ReportWay; readonly now: Date; readonly bytes: number },
): Write => ({
  update: {
    pk: `REPORTBYTES#${owner}`,
    sk: way === "upload" ? toUtcDay(now) : `${toUtcDay(now)}#${way}`,
  },
  set: { expires_at: toEpochSeconds(now) + (2 * DAY_MS) / 1_000 },
  add: { bytes },
  bounds: { bytes: { atMost: BYTES_PER_DAY_MAX } },
  orCreate: true,
});

/** Receivers report once a day. */
const ALERT_SECONDS = DAY_MS / 1_000;

export const toAlertKey = (owner: string, domain: string): Key => ({
  pk: `REPORTALERT#${owner}#${domain}`,
  sk: "ALERT",
});

export const createAlert = (owner: string, domain: string, now: Date): Write => ({
  create: { ...toAlertKey(owner, domain), expires_at: toEpochSeconds(now) + ALERT_SECONDS },
});
