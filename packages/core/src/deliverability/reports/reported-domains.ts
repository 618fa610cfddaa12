import * as v from "valibot";
import { paginateQuery } from "../../lib/paginate-query.ts";
import { addMs, DAY_MS, toUtcDay } from "../../lib/time.ts";
import type { Table, Write } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import { countMessages, getReportDay, type Report } from "./report.ts";

// Layout. Storing an authenticated report also adds it to the sums of its day, so that the list of domains reads no report.
// Other reports do not count here: any host may send thousands of them, each about another domain.
//
//   pk                          sk         content
//   REPORTDOMAINS#<owner>       <domain>   the domain has a report
//   REPORTDAYS#<owner>#<domain> <day>      reports, and the sums of their messages: messages, aligned
//
// 0.2.0 does not write these items: a domain is listed from its first report after the upgrade.

const toDomains = (owner: string): string => `REPORTDOMAINS#${owner}`;
const toDays = (owner: string, domain: string): string => `REPORTDAYS#${owner}#${domain}`;

type Counted = { readonly report: Report; readonly expiresAt: number };

/** Belongs into the transaction that stores the report. */
export const countReport = (owner: string, { report, expiresAt }: Counted): readonly Write[] => {
  const { domain, type } = report;
  const aligned = type === "tls" ? 0 : report.sources.reduce((sum, one) => sum + one.aligned, 0);
  const messages = type === "tls" ? 0 : countMessages(report);
  return [
    { put: { pk: toDomains(owner), sk: domain, expires_at: expiresAt } },
    {
      update: { pk: toDays(owner, domain), sk: getReportDay(report) },
      set: { expires_at: expiresAt },
      add: { reports: 1, messages, aligned },
      orCreate: true,
    },
  ];
};

const Stored = v.object({
  sk: v.string(),
  reports: v.number(),
  messages: v.number(),
  aligned: v.number(),
});

export type ReportedDay = {
  readonly day: string;
  readonly reports: number;
  readonly messages: number;
  readonly aligned: number;
};

export type ReportedDomain = {
  readonly domain: string;
  /** The newest day with a report. Null when all of them expired since. */
  readonly lastDay: string | null;
  /** The days of the window, and of the window before it, the oldest first. */
  readonly days: readonly ReportedDay[];
  readonly daysBefore: readonly ReportedDay[];
};

type DomainsQuery = { readonly days: number; readonly limit: number; readonly after?: string };

/** Lists the domains by name, after the one of the last page. */
export const listReportedDomains = async (
  { table, now }: Pick<World, "table" | "now">,
  owner: string,
  { days, limit, after }: DomainsQuery,
) => {
  const since = toUtcDay(addMs(now(), -(days - 1) * DAY_MS));
  const sinceBefore = toUtcDay(addMs(now(), -(2 * days - 1) * DAY_MS));
  const names: string[] = [];
  const query = { pk: toDomains(owner), ...(after && { sk: { from: after, to: "~" } }) };
  for await (const { sk } of paginateQuery(table, { ...query, pageSize: limit + 2 })) {
    if (sk !== after) names.push(sk);
    if (names.length > limit) break;
  }
  const domains = names.slice(0, limit).map(async (domain): Promise<ReportedDomain> => {
    const pk = toDays(owner, domain);
    const newest = await readDays(table, { pk, newestFirst: true, most: 1 });
    const read = await readDays(table, { pk, sk: { from: sinceBefore, to: "~" }, most: 2 * days });
    return {
      domain,
      lastDay: newest[0]?.day ?? null,
      days: read.filter(({ day }) => day >= since),
      daysBefore: read.filter(({ day }) => day < since),
    };
  });
  return { domains: await Promise.all(domains), since, hasMore: names.length > limit };
};

type DaysQuery = Omit<Parameters<typeof paginateQuery>[1], "pageSize"> & { readonly most: number };

const readDays = async (table: Table, { most, ...query }: DaysQuery): Promise<ReportedDay[]> => {
  const days: ReportedDay[] = [];
  for await (const item of paginateQuery(table, { ...query, pageSize: most })) {
    const { sk: day, ...sums } = v.parse(Stored, item);
    days.push({ day, ...sums });
    if (days.length === most) break;
  }
  return days;
};

export const addDays = (
  days: readonly ReportedDay[],
): Pick<ReportedDay, "reports" | "messages" | "aligned"> => ({
  reports: days.reduce((sum, { reports }) => sum + reports, 0),
  messages: days.reduce((sum, { messages }) => sum + messages, 0),
  aligned: days.reduce((sum, { aligned }) => sum + aligned, 0),
});
