import { type Activity, LEVELS } from "@mailproof/core/activity/levels";
import { type Address, isAddress, parseAddress } from "@mailproof/core/mail/address";
import * as v from "valibot";
import { Count, charactersUpTo, EMAIL_LENGTH_MAX, Share, textOf } from "./common.ts";
import { omitNull } from "./omit-null.ts";

/** An address that can have activity. What is none is named. */
export const Email = v.pipe(
  textOf("idn-email"),
  charactersUpTo(EMAIL_LENGTH_MAX),
  v.transform(parseAddress),
  v.custom<Address>((parsed) => isAddress(parsed as Address), "must be an email address"),
);

export const Level = v.picklist(LEVELS);
const Moment = v.optional(v.string());

/** A share, left out where there is nothing to divide by. */
export const Rate = v.optional(Share);

/** Whether all, some or none of the fields beside it are known. A field that is not known is left out. */
const KNOWLEDGE = ["known", "partly_known", "not_known"] as const;
export const knowledge = () => v.picklist(KNOWLEDGE);

export const knowledgeOf = (values: readonly unknown[]): (typeof KNOWLEDGE)[number] => {
  const missing = values.filter((value) => value === null).length;
  if (missing === 0) return "known";
  return missing === values.length ? "not_known" : "partly_known";
};

export const ActivityRecord = v.object({
  email: textOf("idn-email"),
  activity: v.object({
    last_seen: Moment,
    last_open: Moment,
    last_click: Moment,
    engagement_level: Level,
    total_opens: Count,
    total_clicks: Count,
    opens_last_30d: Count,
    clicks_last_30d: Count,
    /** Opens and clicks of programs. They are in none of the others. */
    machine_events: Count,
  }),
  deliverability: v.object({
    status: knowledge(),
    inbox_rate: Rate,
    spam_rate: Rate,
    bounce_rate: Rate,
  }),
});

export type ActivityRecord = v.InferOutput<typeof ActivityRecord>;

const NO_ACTIVITY: Activity = {
  lastSeen: null,
  lastOpen: null,
  lastClick: null,
  level: "unknown",
  opens: 0,
  clicks: 0,
  opensLast30Days: 0,
  clicksLast30Days: 0,
  machine: 0,
  rates: { inbox: null, spam: null, bounce: null },
};

export const toRecord = (
  { display }: Address,
  { rates, ...of }: Activity = NO_ACTIVITY,
): ActivityRecord => ({
  email: display,
  activity: {
    ...omitNull({ last_seen: of.lastSeen, last_open: of.lastOpen, last_click: of.lastClick }),
    engagement_level: of.level,
    total_opens: of.opens,
    total_clicks: of.clicks,
    opens_last_30d: of.opensLast30Days,
    clicks_last_30d: of.clicksLast30Days,
    machine_events: of.machine,
  },
  deliverability: {
    status: knowledgeOf(Object.values(rates)),
    ...omitNull({ inbox_rate: rates.inbox, spam_rate: rates.spam, bounce_rate: rates.bounce }),
  },
});

/** The part of a verification result that speaks of activity. */
export const ActivityPart = v.object({
  last_seen: Moment,
  engagement_level: Level,
  opens_last_30d: Count,
  clicks_last_30d: Count,
});

export const toPart = (of: Activity): v.InferOutput<typeof ActivityPart> => ({
  ...omitNull({ last_seen: of.lastSeen }),
  engagement_level: of.level,
  opens_last_30d: of.opensLast30Days,
  clicks_last_30d: of.clicksLast30Days,
});
