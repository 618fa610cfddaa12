import {
  type DatedSource,
  mergeReports,
} from "@mailproof/core/deliverability/reports/merge-reports";
import { listProviders } from "@mailproof/core/deliverability/reports/providers";
import { TLS_POLICY_TYPES } from "@mailproof/core/deliverability/reports/report";
import { findStoredDays } from "@mailproof/core/deliverability/reports/report-items";
import { findReportsAddress } from "@mailproof/core/deliverability/reports/reports-address";
import { listSenders } from "@mailproof/core/deliverability/reports/senders";
import { listUnreadable } from "@mailproof/core/deliverability/reports/unreadable-reports";
import { getOwnerId } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { Cursor, Day, describe, limitUpTo } from "../schema/common.ts";
import {
  AlignedShare,
  NotedReports,
  PublishedPolicy,
  ReportSender,
  ReportSource,
  ReportSums,
  SendingProvider,
  toAlignedShare,
  toProviderSums,
  toReportSender,
  toReportSource,
  toReportSums,
  toUnreadableMails,
  UnreadableMails,
} from "../schema/domain-reports.ts";
import * as field from "../schema/fields.ts";
import { omitNull } from "../schema/omit-null.ts";
import { createLimit, Offset, readOffset, toPageEnd } from "../schema/paging.ts";
import { DOMAIN_FIELDS, DomainName, toDomainFields } from "../schema/sender.ts";

/** Reports leave after the plan's retention, but an uploaded one may be about any earlier day. */
const DAYS = { default: 30, most: 400 };
const LIMIT = { default: 50, most: 200 };

const TlsSessions = {
  succeeded: field.count("Sessions with TLS as the policy requires."),
  failed: field.count("Sessions that failed."),
};

const ReportedDay = field.text("The day (UTC), such as 2026-11-21.");

export const getDomainReports = endpoint({
  id: "getDomainReports",
  route: "GET /v1/deliverability/domains/{domain}/reports",
  tag: "Deliverability",
  addition: "Shows what the stored reports say, by source.",
  summary:
    "Get what receivers reported about a domain: who sends as it, how much is aligned, and what to do about each source.",
  access: "deliverability:read",
  needs: ["table:readwrite", "cursor"],
  // Not a tool: its response is longer than a model needs to choose the next step.
  tool: null,

  path: v.strictObject({
    domain: describe(DomainName, "The domain, written as for a deliverability check."),
  }),
  query: v.strictObject({
    days: describe(
      limitUpTo(DAYS),
      "Number of days, the last one included. Larger values are cut to 400. Reports are stored as long as the plan retains results.",
    ),
    to: describe(v.optional(Day), "The last day. By default today (UTC)."),
    limit: createLimit("sources", LIMIT),
    offset: Offset,
  }),
  output: v.object({
    ...DOMAIN_FIELDS,
    reports_address: field.maybeText(
      "The address to which receivers send the reports of this account: put `mailto:` and the address into `rua` of each domain's DMARC and TLS-RPT record. Left out for test keys, and where the service receives no mail.",
    ),
    from: field.text("The first day (UTC) that counts."),
    to: field.text("The last day (UTC) that counts."),
    stored: field.maybeObject(
      "All stored reports about the domain, whatever days this response adds up. Left out when none is stored.",
      {
        from: field.text("The first day (UTC) with a stored report."),
        to: field.text("The last day (UTC) with a stored report."),
      },
    ),
    truncated: field.boolean(
      "True when there are more than 5,000 reports: the oldest are not counted.",
    ),
    reporters: field.objects(
      "The organisations that reported, up to 100, those with most reports first.",
      {
        name: field.text("The organisation."),
        reports: field.count("Number of its reports."),
      },
    ),
    notes: NotedReports,
    unreadable: UnreadableMails,
    dmarc: field.object("DMARC aggregate reports.", {
      reports: field.count("Number of DMARC aggregate reports."),
      unauthenticated_reports: field.count(
        "Those that came by mail that did not pass DMARC: any host may have sent them. They are in the sums below, but cause no event and do not count toward a stricter policy.",
      ),
      policy: field.maybeObject(
        "The policy that the newest authenticated report found. Left out without such reports.",
        {
          p: PublishedPolicy("The policy for the domain."),
          sp: PublishedPolicy("The policy for its subdomains."),
          np: PublishedPolicy("The policy for names that do not exist (RFC 9989)."),
          testing: field.boolean("True when the record only tests its policy."),
        },
      ),
      ...ReportSums,
      aligned_share: AlignedShare,
      days: field.objects("The sums of each day with reports, the oldest first.", {
        day: ReportedDay,
        ...ReportSums,
        aligned_share: AlignedShare,
      }),
      providers: field.objects("The sums of each service that sends, the largest first.", {
        provider: SendingProvider,
        sources: field.count("Number of its addresses."),
        ...ReportSums,
        aligned_share: AlignedShare,
      }),
      senders: describe(
        v.array(ReportSender),
        "The sums of each sender, the largest first, up to 100: a known service, or the sources that share a domain or a network.",
      ),
      sender_count: field.count("Number of all senders."),
      source_count: field.count("Number of sources on all pages."),
      sources: describe(
        v.array(ReportSource),
        "The addresses that sent as the domain, the largest first.",
      ),
    }),
    tls: field.object("SMTP TLS reports.", {
      reports: field.count("Number of TLS reports."),
      ...TlsSessions,
      policies: field.objects("The sums of each kind of policy.", {
        policy: describe(
          v.picklist(TLS_POLICY_TYPES),
          "sts: MTA-STS. tlsa: DANE. no-policy-found: neither.",
        ),
        ...TlsSessions,
        failures: field.objects("Failed sessions by type, the most frequent first.", {
          type: field.text("The type of failure, such as `certificate-expired` (RFC 8460)."),
          sessions: field.count("Number of sessions."),
        }),
      }),
      days: field.objects("The sums of each day with reports, the oldest first.", {
        day: ReportedDay,
        ...TlsSessions,
      }),
    }),
    has_more: field.boolean("True when there is another page of sources."),
    next_offset: describe(Cursor, "Cursor for the next page. Left out on the last page."),
  }),

  async handle(world, caller, { path: { domain }, query: { days, to, limit, offset } }) {
    const owner = getOwnerId(caller);
    // Without `to`, the words equal those of the last release, so its cursors are still valid.
    const bound = `reports ${owner} ${domain} ${days}${to === undefined ? "" : ` ${to}`}`;
    const after = readOffset<Position>(world, bound, offset);
    const [address, merged, stored] = await Promise.all([
      findReportsAddress(world, caller),
      mergeReports(world, caller, { domain, days, until: to, authenticatedOnly: false }),
      findStoredDays(world.table, { owner, domain }),
    ]);
    const unreadable = await listUnreadable(world.table, owner, merged);
    const { dmarc, tls } = merged;
    const senders = listSenders(dmarc.sources, domain);
    const remaining = after === undefined ? dmarc.sources : skipTo(dmarc.sources, after);
    const page = remaining.slice(0, limit);
    const last = remaining.length > limit ? page.at(-1) : undefined;
    return ok({
      ...toDomainFields(domain),
      ...(address !== undefined && { reports_address: address }),
      from: merged.since,
      to: merged.until,
      ...(stored && { stored: { from: stored.first, to: stored.last } }),
      truncated: merged.isTruncated,
      reporters: toCounts(merged.reporters)
        .slice(0, REPORTERS_MAX)
        .map(([name, reports]) => ({ name, reports })),
      notes: merged.noted.map(({ day, reporter, reportId, path, what }) => ({
        day,
        reporter,
        report_id: reportId,
        field: path,
        message: what,
      })),
      unreadable: toUnreadableMails(unreadable),
      dmarc: {
        reports: dmarc.reports,
        unauthenticated_reports: dmarc.unauthenticatedReports,
        ...(dmarc.policy && {
          policy: {
            ...omitNull({ p: dmarc.policy.p, sp: dmarc.policy.sp, np: dmarc.policy.np }),
            testing: dmarc.policy.isTesting,
          },
        }),
        ...toReportSums(dmarc.total),
        ...toAlignedShare(dmarc.total),
        days: dmarc.days.map((one) => ({
          day: one.day,
          ...toReportSums(one),
          ...toAlignedShare(one),
        })),
        providers: listProviders(dmarc.sources).map(toProviderSums),
        senders: senders.slice(0, SENDERS_MAX).map(toReportSender),
        sender_count: senders.length,
        source_count: dmarc.sources.length,
        sources: page.map((source) => toReportSource(source, domain)),
      },
      tls: {
        reports: tls.reports,
        succeeded: tls.policies.reduce((sum, { succeeded }) => sum + succeeded, 0),
        failed: tls.policies.reduce((sum, { failed }) => sum + failed, 0),
        policies: tls.policies.map(({ policy, succeeded, failed, failures }) => ({
          policy,
          succeeded,
          failed,
          failures: toCounts(failures).map(([type, sessions]) => ({ type, sessions })),
        })),
        days: [...tls.days],
      },
      ...toPageEnd(world, bound, last && [last.messages, last.ip]),
    });
  },
});

const REPORTERS_MAX = 100;
const SENDERS_MAX = 100;

type Position = readonly [messages: number, ip: string | null];

/** A report that arrived in between may have moved sources, but no source after the position is skipped. */
const skipTo = (
  sources: readonly DatedSource[],
  [messages, ip]: Position,
): readonly DatedSource[] => {
  const at = sources.findIndex((source) => source.ip === ip);
  if (at >= 0) return sources.slice(at + 1);
  return sources.filter((source) => source.messages <= messages);
};

const toCounts = (sums: Readonly<Record<string, number | undefined>>): [string, number][] =>
  Object.entries(sums)
    .map(([name, count = 0]): [string, number] => [name, count])
    .toSorted(([, a], [, b]) => b - a);
