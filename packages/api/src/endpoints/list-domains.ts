import {
  addDays,
  listReportedDomains,
  type ReportedDomain,
} from "@mailproof/core/deliverability/reports/reported-domains";
import { toUtcDay } from "@mailproof/core/lib/time";
import { getOwnerId } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, limitUpTo } from "../schema/common.ts";
import { AlignedShare, toAlignedShare } from "../schema/domain-reports.ts";
import * as field from "../schema/fields.ts";
import { createLimit, Offset, PAGE_END, readOffset, toPageEnd } from "../schema/paging.ts";
import { DOMAIN_FIELDS, toDomainFields } from "../schema/sender.ts";

const DAYS = { default: 30, most: 100 };
const LIMIT = { default: 50, most: 100 };

const Sums = {
  reports: field.count("Number of reports."),
  messages: field.count("Messages in the DMARC reports."),
  aligned: field.count("Messages that SPF or DKIM aligns."),
  aligned_share: AlignedShare,
};

const ListedDomain = v.object({
  ...DOMAIN_FIELDS,
  ...Sums,
  before: field.object("The same sums of as many days before these.", Sums),
  last_day: field.maybeText("The newest day (UTC) with a report."),
  days: field.objects("The sums of each day with reports, the oldest first.", {
    day: field.text("The day (UTC)."),
    ...Sums,
  }),
});

export const listDomains = endpoint({
  id: "listDomains",
  route: "GET /v1/deliverability/domains",
  tag: "Deliverability",
  addition: "Finds every domain that receivers reported about.",
  summary:
    "List the domains with reports of receivers, by name, with their messages and how many are aligned. Reports in mail that did not pass DMARC do not count.",
  access: "deliverability:read",
  needs: ["table:readwrite", "cursor"],
  // Not a tool: a model asks about the domain that its user names.
  tool: null,
  answers: [200],

  query: v.strictObject({
    days: describe(
      limitUpTo(DAYS),
      "Number of days, today (UTC) included. Larger values are cut to 100.",
    ),
    limit: createLimit("domains", LIMIT),
    offset: Offset,
  }),
  output: v.object({
    from: field.text("The first day (UTC) that counts."),
    to: field.text("The last day (UTC) that counts."),
    domains: describe(v.array(ListedDomain), "The domains, by name."),
    ...PAGE_END,
  }),

  async handle(world, caller, { query: { days, limit, offset } }) {
    const owner = getOwnerId(caller);
    const bound = `domains ${owner}`;
    const after = readOffset<string>(world, bound, offset);
    const { domains, since, hasMore } = await listReportedDomains(world, owner, {
      days,
      limit,
      ...(after !== undefined && { after }),
    });
    const last = hasMore ? domains.at(-1) : undefined;
    return ok({
      from: since,
      to: toUtcDay(world.now()),
      domains: domains.map(toListedDomain),
      ...toPageEnd(world, bound, last?.domain),
    });
  },
});

const toListedDomain = ({ domain, lastDay, days, daysBefore }: ReportedDomain) => ({
  ...toDomainFields(domain),
  ...toSums(addDays(days)),
  before: toSums(addDays(daysBefore)),
  ...(lastDay !== null && { last_day: lastDay }),
  days: days.map((one) => ({ ...one, ...toAlignedShare(one) })),
});

const toSums = (sums: ReturnType<typeof addDays>) => ({ ...sums, ...toAlignedShare(sums) });
