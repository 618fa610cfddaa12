import { findReputation } from "@mailproof/core/activity/read";
import { REPUTATION_LEVELS, TRENDS } from "@mailproof/core/activity/reputation";
import * as v from "valibot";
import { endpoint } from "../endpoint.ts";
import { Count, Integer, KEYED_ERRORS, Share } from "../schemas.ts";
import { DomainName } from "../sender.ts";

const Rate = v.nullable(Share);

export const getActivityDomainDomain = endpoint({
  route: "GET /v1/activity/domain/{domain}",
  summary:
    "Show how the addresses of a domain take mail, and whether the domain is on a blocklist.",
  price: null,
  access: "activity:read",
  needs: ["table:readwrite", "dns"],
  answers: [200],
  errors: KEYED_ERRORS,

  path: v.strictObject({ domain: DomainName }),
  output: v.object({
    domain: v.string(),
    reputation: v.object({
      score: v.nullable(Integer),
      level: v.picklist(REPUTATION_LEVELS),
      trend: v.picklist(TRENDS),
    }),
    /** Of the last thirty days; null where fewer addresses were heard of than are shown as a group. */
    metrics: v.object({
      total_emails_tracked: v.nullable(Count),
      avg_engagement_rate: Rate,
      avg_bounce_rate: Rate,
      spam_complaint_rate: Rate,
    }),
    /** `listed` is null where no list gave a verdict. */
    blacklist_status: v.object({ listed: v.nullable(v.boolean()), checked_at: v.string() }),
  }),

  async handle(world, caller, { path }) {
    const of = await findReputation(world, caller, path.domain);
    return {
      status: 200,
      data: {
        domain: path.domain,
        reputation: { score: of.score, level: of.level, trend: of.trend },
        metrics: {
          total_emails_tracked: of.people,
          avg_engagement_rate: of.engagement,
          avg_bounce_rate: of.bounce,
          spam_complaint_rate: of.spam,
        },
        blacklist_status: { listed: of.blacklist.listed, checked_at: of.blacklist.checkedAt },
      },
    };
  },
});
