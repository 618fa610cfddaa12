import { findReputation } from "@mailproof/core/activity/read";
import { REPUTATION_LEVELS, TRENDS } from "@mailproof/core/activity/reputation";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { knowledge, knowledgeOf, Rate } from "../schema/activity.ts";
import { Count, Integer, KEYED_ERRORS } from "../schema/common.ts";
import { omitNull } from "../schema/omit-null.ts";
import { DOMAIN_FIELDS, DomainName, toDomainFields, wwwMessage } from "../schema/sender.ts";

export const getDomainReputation = endpoint({
  id: "getDomainReputation",
  route: "GET /v1/activity/domain/{domain}",
  tag: "Activity",
  summary:
    "Show how the addresses of a domain take mail, and whether the domain is on a blocklist.",
  price: null,
  access: "activity:read",
  needs: ["table:readwrite", "dns"],
  tool: { effect: "readOnly" },
  answers: [200],
  errors: KEYED_ERRORS,

  path: v.strictObject({ domain: DomainName }),
  output: v.object({
    ...DOMAIN_FIELDS,
    reputation: v.object({
      score: v.optional(Integer),
      level: v.picklist(REPUTATION_LEVELS),
      trend: v.picklist(TRENDS),
    }),
    /** Of the last thirty days. Not known where too few addresses have events to show them as a group. */
    metrics: v.object({
      status: knowledge(),
      total_emails_tracked: Count,
      avg_engagement_rate: Rate,
      avg_bounce_rate: Rate,
      spam_complaint_rate: Rate,
    }),
    blacklist_status: v.object({
      /** `not_known` where no list returned a verdict. */
      status: v.picklist(["known", "not_known"]),
      listed: v.optional(v.boolean()),
      checked_at: v.string(),
    }),
    /** Left out where there is nothing to add. */
    message: v.optional(v.string()),
  }),

  async handle(world, caller, { path }) {
    const of = await findReputation(world, caller, path.domain);
    const message = wwwMessage(path.domain);
    return {
      status: 200,
      data: {
        ...toDomainFields(path.domain),
        reputation: { ...omitNull({ score: of.score }), level: of.level, trend: of.trend },
        metrics: {
          status: knowledgeOf([of.people, of.engagement, of.bounce, of.spam]),
          total_emails_tracked: of.people ?? 0,
          ...omitNull({
            avg_engagement_rate: of.engagement,
            avg_bounce_rate: of.bounce,
            spam_complaint_rate: of.spam,
          }),
        },
        blacklist_status: {
          status: of.blacklist.listed === null ? ("not_known" as const) : ("known" as const),
          ...omitNull({ listed: of.blacklist.listed }),
          checked_at: of.blacklist.checkedAt,
        },
        ...(message !== undefined && { message }),
      },
    };
  },
});
