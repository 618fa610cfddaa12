import {
  addDays,
  listReportedDomains,
  type ReportedDomain,
} from "@mailproof/core/deliverability/reports/reported-domains";
import { signCursor, verifyCursor } from "@mailproof/core/lib/cursor";
import { toUtcDay } from "@mailproof/core/lib/time";
import { getOwnerId } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Count, Cursor, describe, KEYED_ERRORS, limitUpTo } from "../schema/common.ts";
import { AlignedShare, toAlignedShare } from "../schema/domain-reports.ts";
import { DOMAIN_FIELDS, toDomainFields } from "../schema/sender.ts";

const DAYS = { default: 30, most: 100 };
const LIMIT = { default: 50, most: 100 };

const Sums = {
  reports: describe(Count, "Number of reports."),
  messages: describe(Count, "Messages in the DMARC reports."),
  aligned: describe(Count, "Messages that SPF or DKIM aligns."),
  aligned_share: AlignedShare,
};

const ListedDomain = v.object({
  ...DOMAIN_FIELDS,
  ...Sums,
  before: describe(v.object(Sums), "The same sums of as many days before these."),
  last_day: describe(v.optional(v.string()), "The newest day (UTC) with a report."),
  days: describe(
    v.array(v.object({ day: describe(v.string(), "The day (UTC)."), ...Sums })),
    "The sums of each day with reports, the oldest first.",
  ),
});

export const listDomains = endpoint({
  id: "listDomains",
  route: "GET /v1/deliverability/domains",
  tag: "Deliverability",
  addition: "Finds every domain that receivers reported about.",
  summary:
    "List the domains with reports of receivers, by name, with their messages and how many are aligned. Reports in mail that did not pass DMARC do not count.",
  price: null,
  access: "deliverability:read",
  needs: ["table:readwrite", "cursor"],
  // Not a tool: a model asks about the domain that its user names.
  tool: null,
  answers: [200],
  errors: KEYED_ERRORS,

  query: v.strictObject({
    days: describe(
      limitUpTo(DAYS),
      "Number of days, today (UTC) included. Larger values are cut to 100.",
    ),
    limit: describe(
      limitUpTo(LIMIT),
      "Largest number of domains on a page. Larger values are cut to 100.",
    ),
    offset: describe(Cursor, "The `next_offset` of the previous page."),
  }),
  output: v.object({
    from: describe(v.string(), "The first day (UTC) that counts."),
    to: describe(v.string(), "The last day (UTC) that counts."),
    domains: describe(v.array(ListedDomain), "The domains, by name."),
    has_more: describe(v.boolean(), "True when there is another page."),
    next_offset: describe(Cursor, "Cursor for the next page. Left out on the last page."),
  }),

  async handle(world, caller, { query: { days, limit, offset } }) {
    const owner = getOwnerId(caller);
    const { settings } = world;
    const bound = `domains ${owner}`;
    const after = offset === undefined ? undefined : verifyCursor(settings, bound, offset);
    if (offset !== undefined && after === undefined)
      throw invalidField("offset", "must be a next_offset of this list");
    const { domains, since, hasMore } = await listReportedDomains(world, owner, {
      days,
      limit,
      ...(after !== undefined && { after: after as string }),
    });
    const last = hasMore ? domains.at(-1) : undefined;
    return {
      status: 200,
      data: {
        from: since,
        to: toUtcDay(world.now()),
        domains: domains.map(toListedDomain),
        has_more: hasMore,
        ...(last && { next_offset: signCursor(settings, bound, last.domain) }),
      },
    };
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
