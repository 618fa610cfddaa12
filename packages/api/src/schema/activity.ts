import { ACTIVITY_LEVELS, type Activity } from "@mailproof/core/activity/activity-level";
import { type Address, isAddress } from "@mailproof/mail/address";
import { parseAddressCell } from "@mailproof/mail/address-cell";
import * as v from "valibot";
import { createText, describe, EMAIL_LENGTH_MAX, limitCharacters } from "./common.ts";
import * as field from "./fields.ts";
import { omitNull } from "./omit-null.ts";

/** Accepts an address that can have activity. The error contains the text that is not an address. */
export const Email = v.pipe(
  createText("idn-email"),
  limitCharacters(EMAIL_LENGTH_MAX),
  v.transform(parseAddressCell),
  v.custom<Address>((parsed) => isAddress(parsed as Address), "must be an email address"),
);

export const Level = describe(
  v.picklist(ACTIVITY_LEVELS),
  "high: active within 30 days. medium: within 90 days. low: longer ago. unknown: no open or click is recorded.",
);

/** The knowledge states whether all, some or none of the other fields are known. An unknown field is absent. */
const KNOWLEDGE = ["known", "partly_known", "not_known"] as const;
export const knowledge = () => v.picklist(KNOWLEDGE);

export const toKnowledge = (values: readonly unknown[]): (typeof KNOWLEDGE)[number] => {
  const missing = values.filter((value) => value === null).length;
  if (missing === 0) return "known";
  return missing === values.length ? "not_known" : "partly_known";
};

export const ActivityRecord = v.object({
  email: describe(createText("idn-email"), "The address."),
  activity: field.object("Opens and clicks by people.", {
    last_seen: field.maybeText(
      "When this address last opened or clicked, ISO 8601. Left out when there is none.",
    ),
    last_open: field.maybeText(
      "When this address last opened, ISO 8601. Left out when there is none.",
    ),
    last_click: field.maybeText(
      "When this address last clicked, ISO 8601. Left out when there is none.",
    ),
    engagement_level: describe(Level, "How recently the address was active."),
    total_opens: field.count("Number of opens."),
    total_clicks: field.count("Number of clicks."),
    opens_last_30d: field.count("Number of opens in the last 30 days."),
    clicks_last_30d: field.count("Number of clicks in the last 30 days."),
    machine_events: field.count(
      "Number of opens and clicks by software. They are not counted in the other fields.",
    ),
  }),
  deliverability: field.object("What happened to mail for this address.", {
    status: describe(
      knowledge(),
      "known: all three rates are present. partly_known: some are. not_known: none is, because no delivery or bounce is recorded.",
    ),
    inbox_rate: field.maybeShare(
      "Share of sent messages that were delivered without a complaint, 0–1. Left out when unknown.",
    ),
    spam_rate: field.maybeShare(
      "Share of delivered messages with a spam complaint, 0–1. Left out when unknown.",
    ),
    bounce_rate: field.maybeShare(
      "Share of sent messages that bounced, 0–1. Left out when unknown.",
    ),
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
    status: toKnowledge(Object.values(rates)),
    ...omitNull({ inbox_rate: rates.inbox, spam_rate: rates.spam, bounce_rate: rates.bounce }),
  },
});

export const ActivityPart = v.object({
  last_seen: field.maybeText(
    "When this address last opened or clicked, ISO 8601. Left out when there is none.",
  ),
  engagement_level: describe(Level, "How recently the address was active."),
  opens_last_30d: field.count("Number of opens in the last 30 days."),
  clicks_last_30d: field.count("Number of clicks in the last 30 days."),
});

export const toPart = (of: Activity): v.InferOutput<typeof ActivityPart> => ({
  ...omitNull({ last_seen: of.lastSeen }),
  engagement_level: of.level,
  opens_last_30d: of.opensLast30Days,
  clicks_last_30d: of.clicksLast30Days,
});
