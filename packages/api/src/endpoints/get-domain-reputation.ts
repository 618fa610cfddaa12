import { findReputation } from "@mailproof/core/activity/find-activity";
import { REPUTATION_LEVELS, TRENDS } from "@mailproof/core/activity/reputation";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { knowledge, toKnowledge } from "../schema/activity.ts";
import { describe } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { omitNull } from "../schema/omit-null.ts";
import { DOMAIN_FIELDS, DomainName, toDomainFields, wwwMessage } from "../schema/sender.ts";

export const getDomainReputation = endpoint({
  id: "getDomainReputation",
  route: "GET /v1/activity/domain/{domain}",
  tag: "Activity",
  summary: "Get how a domain's addresses respond to mail, and whether a blocklist lists it.",
  access: "activity:read",
  needs: ["table:readwrite", "dns"],

  path: v.strictObject({
    domain: describe(
      DomainName,
      "The domain, such as example.com. A URL, a final dot, capitals and Unicode are accepted.",
    ),
  }),
  output: v.object({
    ...DOMAIN_FIELDS,
    reputation: field.object("How the domain's addresses respond to mail.", {
      score: field.maybeInteger("Score, 0–100. Left out when `level` is `unknown`."),
      level: describe(v.picklist(REPUTATION_LEVELS), "The score in a word."),
      trend: describe(v.picklist(TRENDS), "Whether the score rises or falls."),
    }),
    metrics: field.object("Figures of the last 30 days.", {
      status: describe(
        knowledge(),
        "known: all figures are present. partly_known: some rates are left out. not_known: fewer than 20 addresses have events, too few to show as a group.",
      ),
      total_emails_tracked: field.count(
        "Number of addresses with events. 0 when `status` is `not_known`.",
      ),
      avg_engagement_rate: field.maybeShare(
        "Share of delivered messages that were opened or clicked, 0–1. Left out when unknown.",
      ),
      avg_bounce_rate: field.maybeShare(
        "Share of sent messages that bounced, 0–1. Left out when unknown.",
      ),
      spam_complaint_rate: field.maybeShare(
        "Share of delivered messages with a spam complaint, 0–1. Left out when unknown.",
      ),
    }),
    blacklist_status: field.object("Whether a blocklist lists the domain.", {
      status: describe(
        v.picklist(["known", "not_known"]),
        "known: at least one blocklist returned a verdict. not_known: none did.",
      ),
      listed: field.boolean(
        "True when at least one blocklist lists the domain. False when `status` is `not_known`.",
      ),
      checked_at: field.text("When the blocklists were checked, ISO 8601."),
    }),
    message: field.maybeText("A note for people. Left out when there is none."),
  }),

  async handle(world, caller, { path }) {
    const of = await findReputation(world, caller, path.domain);
    const message = wwwMessage(path.domain);
    return ok({
      ...toDomainFields(path.domain),
      reputation: { ...omitNull({ score: of.score }), level: of.level, trend: of.trend },
      metrics: {
        status: toKnowledge([of.activeAddresses, of.engagement, of.bounce, of.spam]),
        total_emails_tracked: of.activeAddresses ?? 0,
        ...omitNull({
          avg_engagement_rate: of.engagement,
          avg_bounce_rate: of.bounce,
          spam_complaint_rate: of.spam,
        }),
      },
      blacklist_status: {
        status: of.blocklist.listed === null ? ("not_known" as const) : ("known" as const),
        listed: of.blocklist.listed ?? false,
        checked_at: of.blocklist.checkedAt,
      },
      ...(message !== undefined && { message }),
    });
  },
});
