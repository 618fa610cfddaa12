import type { DmarcPolicy } from "@mailproof/mail/dmarc/record";
import { addMs, DAY_MS, toUtcDay } from "../../lib/time.ts";
import { getOwnerId, type Payer } from "../../money/payer.ts";
import type { World } from "../../ports/world.ts";
import {
  type DmarcReport,
  getReportDay,
  getReportedPolicy,
  type PublishedPolicy,
  type Report,
  type SourceSums,
  type Sums,
  type TlsPolicySums,
  type TlsPolicyType,
  type TlsReport,
} from "./report.ts";
import { iterateReports } from "./report-items.ts";
import type { ReportNote } from "./report-notes.ts";
import { createSandboxReports } from "./sandbox-reports.ts";
import { countUnaligned, createSourceSums, mergeSources } from "./source-sums.ts";

/** One request reads at most 5,000 reports; the response shows when more exist. */
const REPORTS_MAX = 5_000;
/** Further faults show nothing new about a reporter's program. */
const NOTED_MAX = 50;
/** The most separate addresses; further addresses share one sum. */
const SOURCES_MAX = 50_000;

export type DatedSource = SourceSums & {
  readonly firstDay: string;
  readonly lastDay: string;
  /** The last day with mail that is neither aligned nor known as forwarded. Null without such mail. */
  readonly lastUnalignedDay: string | null;
};
export type DmarcDay = SourceSums & { readonly day: string };
export type TlsDay = { readonly day: string; readonly succeeded: number; readonly failed: number };

export type DomainReports = {
  readonly since: string;
  readonly until: string;
  readonly isTruncated: boolean;
  readonly reporters: Sums;
  /** Faults in the newest reports, whose sums still count. */
  readonly noted: readonly NotedReport[];
  readonly dmarc: {
    readonly reports: number;
    readonly unauthenticatedReports: number;
    /** The policy comes from the newest authenticated report. */
    readonly policy: PublishedPolicy | null;
    /** The start of the newest report's range, when its receiver may have read the policy. */
    readonly policySeenAt: Date | null;
    /** The number of days with reports, by the policy that applied to the domain. */
    readonly daysByPolicy: Readonly<Record<DmarcPolicy, number>>;
    readonly total: SourceSums;
    /** The days are sorted, the oldest first, without days that have no reports. */
    readonly days: readonly DmarcDay[];
    readonly sources: readonly DatedSource[];
  };
  readonly tls: {
    readonly reports: number;
    readonly days: readonly TlsDay[];
    readonly policies: readonly TlsPolicySums[];
  };
};

export type NotedReport = ReportNote &
  Pick<Report, "reporter" | "reportId"> & { readonly day: string };

type ReportQuery = {
  readonly domain: string;
  /** Number of days, `until` included. */
  readonly days: number;
  /** The last day (UTC). By default today, and reports of clocks that are ahead count, too. */
  readonly until?: string | undefined;
  readonly authenticatedOnly: boolean;
  readonly incoming?: Report | undefined;
};

export const mergeReports = async (
  world: Pick<World, "table" | "now">,
  payer: Pick<Payer, "account" | "mode">,
  { days, ...query }: ReportQuery,
): Promise<DomainReports> => {
  const until = query.until ?? toUtcDay(world.now());
  const since = toUtcDay(addMs(new Date(until), -(days - 1) * DAY_MS));
  const reporters = new Map<string, number>();
  const noted: NotedReport[] = [];
  const dmarc = createDmarcMerge();
  const tls = createTlsMerge();
  let [read, isTruncated] = [0, false];
  for await (const { report, isAuthenticated } of listReports(world, payer, { ...query, since })) {
    if (read === REPORTS_MAX) {
      isTruncated = true;
      break;
    }
    read++;
    reporters.set(report.reporter, (reporters.get(report.reporter) ?? 0) + 1);
    if (noted.length < NOTED_MAX) noted.push(...listNotes(report));
    if (report.type === "dmarc") dmarc.add(report, isAuthenticated);
    else tls.add(report);
  }
  return {
    since,
    until,
    isTruncated,
    reporters: Object.fromEntries(reporters),
    noted: noted.slice(0, NOTED_MAX),
    dmarc: dmarc.end(),
    tls: tls.end(),
  };
};

const listNotes = (report: Report): readonly NotedReport[] => {
  const { reporter, reportId, notes = [] } = report;
  return notes.map((note) => ({ ...note, reporter, reportId, day: getReportDay(report) }));
};

type ListedReport = { readonly report: Report; readonly isAuthenticated: boolean };

/** Lists unauthenticated reports last, so that they displace no authenticated report. */
async function* listReports(
  { table, now }: Pick<World, "table" | "now">,
  payer: Pick<Payer, "account" | "mode">,
  {
    domain,
    since,
    until,
    incoming,
    authenticatedOnly,
  }: Omit<ReportQuery, "days"> & { readonly since: string },
): AsyncGenerator<ListedReport> {
  const owner = getOwnerId(payer);
  const made = payer.mode === "test" ? createSandboxReports(domain, now()) : [];
  for (const report of incoming ? [incoming, ...made] : made)
    if (getReportDay(report) >= since && (until === undefined || getReportDay(report) <= until))
      yield { report, isAuthenticated: true };
  for (const isAuthenticated of authenticatedOnly ? [true] : [true, false]) {
    const set = { owner, domain, isAuthenticated };
    for await (const report of iterateReports(table, { ...set, since, until }))
      yield { report, isAuthenticated };
  }
}

const createDmarcMerge = () => {
  const sums = createSourceSums(SOURCES_MAX);
  const spans = new Map<string | null, Span>();
  const daysByPolicy = new Map<DmarcPolicy | null, Set<string>>();
  const byDay = new Map<string, SourceSums[]>();
  let newest: DmarcReport | undefined;
  let [reports, unauthenticatedReports] = [0, 0];
  const addSource = (source: SourceSums, day: string): void => {
    const ip = sums.addSums(source);
    const span = spans.get(ip) ?? { firstDay: day, lastDay: day, lastUnalignedDay: null };
    const lastUnalignedDay = countUnaligned(source) > 0 ? day : span.lastUnalignedDay;
    spans.set(ip, {
      firstDay: getEarlier(span.firstDay, day),
      lastDay: getLater(span.lastDay, day),
      lastUnalignedDay: lastUnalignedDay && getLater(span.lastUnalignedDay ?? "", lastUnalignedDay),
    });
  };
  return {
    add: (report: DmarcReport, isAuthenticated: boolean): void => {
      reports++;
      if (!isAuthenticated) unauthenticatedReports++;
      else if (!newest || report.end > newest.end) newest = report;
      const day = getReportDay(report);
      const policy = getReportedPolicy(report.policy);
      daysByPolicy.set(policy, (daysByPolicy.get(policy) ?? new Set()).add(day));
      const sources = isAuthenticated ? report.sources : report.sources.map(markUnauthenticated);
      for (const source of sources) addSource(source, day);
      const ofDay = byDay.get(day) ?? [];
      byDay.set(day, [mergeSources([...ofDay, ...sources], null)]);
    },
    end: (): DomainReports["dmarc"] => ({
      reports,
      unauthenticatedReports,
      policy: newest?.policy ?? null,
      policySeenAt: newest?.begin ?? null,
      daysByPolicy: {
        none: daysByPolicy.get("none")?.size ?? 0,
        quarantine: daysByPolicy.get("quarantine")?.size ?? 0,
        reject: daysByPolicy.get("reject")?.size ?? 0,
      },
      total: mergeSources([...byDay.values()].flat(), null),
      days: [...byDay]
        .map(([day, ofDay]) => ({ ...mergeSources(ofDay, null), day }))
        .toSorted(byDayAscending),
      sources: sums.list().map((source) => ({
        ...source,
        ...(spans.get(source.ip) ?? { firstDay: "", lastDay: "", lastUnalignedDay: null }),
      })),
    }),
  };
};

const markUnauthenticated = (source: SourceSums): SourceSums => ({
  ...source,
  unauthenticated: source.messages,
});

type Span = Pick<DatedSource, "firstDay" | "lastDay" | "lastUnalignedDay">;

const getEarlier = (one: string, other: string): string => (one < other ? one : other);
const getLater = (one: string, other: string): string => (one < other ? other : one);

const createTlsMerge = () => {
  const policies = new Map<TlsPolicyType, TlsPolicySums>();
  const byDay = new Map<string, TlsDay>();
  let reports = 0;
  const addPolicy = (more: TlsPolicySums): void => {
    const before = policies.get(more.policy);
    policies.set(more.policy, {
      policy: more.policy,
      succeeded: (before?.succeeded ?? 0) + more.succeeded,
      failed: (before?.failed ?? 0) + more.failed,
      failures: addFailures(before?.failures ?? {}, more.failures),
    });
  };
  return {
    add: (report: TlsReport): void => {
      reports++;
      const day = getReportDay(report);
      for (const policy of report.policies) {
        const { succeeded = 0, failed = 0 } = byDay.get(day) ?? {};
        byDay.set(day, {
          day,
          succeeded: succeeded + policy.succeeded,
          failed: failed + policy.failed,
        });
        addPolicy(policy);
      }
    },
    end: (): DomainReports["tls"] => ({
      reports,
      days: [...byDay.values()].toSorted(byDayAscending),
      policies: [...policies.values()],
    }),
  };
};

const byDayAscending = (one: { readonly day: string }, other: { readonly day: string }): number =>
  one.day < other.day ? -1 : 1;

const addFailures = (before: Sums, more: Sums): Sums => {
  const sums = new Map(Object.entries(before));
  for (const [type, sessions = 0] of Object.entries(more))
    sums.set(type, (sums.get(type) ?? 0) + sessions);
  return Object.fromEntries(sums);
};
