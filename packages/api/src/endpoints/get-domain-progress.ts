import { findDomainProgress } from "@mailproof/core/deliverability/progress/domain-progress";
import { NEXT_CODES } from "@mailproof/core/deliverability/progress/next-step";
import { REASON_CODES } from "@mailproof/core/deliverability/progress/readiness";
import { STEP_STATUSES, STEPS } from "@mailproof/core/deliverability/progress/steps";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";
import { PublishedPolicy, ReportSource, toReportSource } from "../schema/domain-reports.ts";
import * as field from "../schema/fields.ts";
import { omitNull } from "../schema/omit-null.ts";
import { DnsRecord, ProposedDnsRecord } from "../schema/proposed-records.ts";
import { DOMAIN_FIELDS, DomainName, toDomainFields } from "../schema/sender.ts";
import { toProposalFields } from "../schema/to-check-result.ts";

/** The page of sources lists more sources, including aligned ones. */
const SOURCES_MAX = 20;

const Step = v.object({
  step: describe(
    v.picklist(STEPS),
    "published: SPF, DKIM and DMARC are in DNS. tested: a test mail passes DMARC. reported: receivers report mail that is aligned. enforced: the policy is reject.",
  ),
  status: describe(
    v.picklist(STEP_STATUSES),
    "done: it was observed. failing: what was observed is wrong. open: it was not observed yet, not enough of it, or DNS did not answer.",
  ),
  observed_at: field.maybeText("When the newest evidence is from, ISO 8601. Left out without any."),
  check_id: field.maybeText(
    "The check that shows it. The operation getCheck returns the check. Left out when no check does.",
  ),
  test_id: field.maybeText(
    "The mail test that shows it. The operation getMailTest returns the test. Left out when no test does.",
  ),
  missing: describe(v.array(v.string()), "What is missing, in sentences. Empty when it is done."),
});

const Next = v.object({
  code: describe(v.picklist(NEXT_CODES), "What to do now, as a code."),
  text: field.text("The same in a sentence."),
  record: describe(
    v.optional(ProposedDnsRecord),
    "The DNS record to publish. Left out when there is nothing to publish, or only you know it.",
  ),
  replaces: describe(
    v.optional(v.array(DnsRecord)),
    "The published records to remove with it. Left out when there are none.",
  ),
  note: field.maybeText("What else to do, in a sentence. Left out when there is nothing."),
});

const Dmarc = v.object({
  policy: PublishedPolicy(
    "The policy that applies to the domain, by the newest check, or by reports of later days. Left out when none is known.",
  ),
  ready: field.boolean("True when a stricter policy is safe."),
  ready_for: PublishedPolicy("The policy of the record to publish next. Left out unless `ready`."),
  reasons: field.objects(
    "Why a stricter policy is not safe yet, or not needed. Empty when `ready`.",
    {
      code: describe(v.picklist(REASON_CODES), "The reason as a code."),
      text: field.text("The same in a sentence."),
    },
  ),
  from: field.text("The first day (UTC) that counts: today and the 14 days before."),
  to: field.text("The last day (UTC) that counts."),
  truncated: field.boolean(
    "True when there are more than 5,000 reports: the oldest are not counted.",
  ),
  reports: field.count("Number of DMARC aggregate reports."),
  reporters: field.count("Number of organisations that reported."),
  days: field.count("Number of days with reports."),
  days_at_policy: field.count("Number of days with reports that found the current policy."),
  messages: field.count("Number of messages."),
  forwarded: field.count(
    "Messages that are not aligned and that the receiver reports as forwarded, or as from a mailing list.",
  ),
  aligned_share: field.maybeShare(
    "Share of messages that are aligned, 0–1, without those that are known as forwarded. Left out without messages.",
  ),
  unaligned_source_count: field.count(
    "Number of addresses that sent mail that is neither aligned nor known as forwarded.",
  ),
  unaligned_sources: describe(
    v.array(ReportSource),
    `These addresses, the one with most such mail first. At most ${SOURCES_MAX}.`,
  ),
});

export const getDomainProgress = endpoint({
  id: "getDomainProgress",
  route: "GET /v1/deliverability/domains/{domain}",
  tag: "Deliverability",
  addition: "One check does not say what to do next on the way to a strict DMARC policy.",
  summary:
    "Get how far a domain is on its way to a strict DMARC policy: published, tested, reported, enforced; what to do next; and whether a stricter policy is safe.",
  access: "deliverability:read",

  path: v.strictObject({
    domain: describe(DomainName, "The domain, written as for a deliverability check."),
  }),
  output: v.object({
    ...DOMAIN_FIELDS,
    monitored: field.boolean("True when a monitor checks the domain."),
    steps: describe(v.array(Step), "The four steps, in their order."),
    next: describe(Next, "The one thing to do now."),
    dmarc: describe(Dmarc, "What the DMARC reports of the last 14 days show."),
  }),

  async handle(world, caller, { path: { domain } }) {
    const { isMonitored, steps, next, readiness, reports } = await findDomainProgress(
      world,
      caller,
      domain,
    );
    const { policy, isReady, readyFor, reasons, mail } = readiness;
    return ok({
      ...toDomainFields(domain),
      monitored: isMonitored,
      steps: steps.map((one) => ({
        step: one.step,
        status: one.status,
        ...omitNull({
          observed_at: one.observedAt?.toISOString() ?? null,
          check_id: one.check,
          test_id: one.test,
        }),
        missing: [...one.missing],
      })),
      next: toNext(next),
      dmarc: {
        ...omitNull({ policy }),
        ready: isReady,
        ...omitNull({ ready_for: readyFor }),
        reasons: [...reasons],
        from: reports.since,
        to: reports.until,
        truncated: reports.isTruncated,
        reports: reports.dmarc.reports,
        reporters: Object.keys(reports.reporters).length,
        days: mail.days,
        days_at_policy: mail.daysAtPolicy,
        messages: mail.messages,
        forwarded: mail.forwarded,
        ...omitNull({ aligned_share: cut(mail.alignedShare) }),
        unaligned_source_count: mail.unalignedSources.length,
        unaligned_sources: mail.unalignedSources
          .slice(0, SOURCES_MAX)
          .map((source) => toReportSource(source, domain)),
      },
    });
  },
});

type NextStep = Awaited<ReturnType<typeof findDomainProgress>>["next"];

const toNext = ({ code, text, proposal }: NextStep) => {
  if (!proposal) return { code, text };
  const { record, replaces, note } = toProposalFields(proposal);
  return { code, text, record, ...(replaces && { replaces }), ...(note !== undefined && { note }) };
};

/** Truncates instead of rounding: a share below the limit must not read as the limit. */
const cut = (share: number | null): number | null =>
  share === null ? null : Math.floor(share * 10_000) / 10_000;
