import * as v from "valibot";
import { fingerprint } from "../fingerprint.ts";
import { type Address, isAddress, parseAddress } from "../mail/address.ts";
import type { Told } from "./events.ts";

// What Amazon SES publishes, by event publishing (eventType) and by its older notifications (notificationType), as a
// body of the queue: inside the envelope of SNS, or bare where raw message delivery is on.

/** On each mail, whose it is. AWS lets a tag hold letters, digits, _ and -, and so does an account's id. */
const ACCOUNT_TAG = "mailproof_account";

export type SesNews = {
  /** Null: the mail carried no tag. */
  readonly account: string | null;
  readonly told: readonly Told[];
};

/** Throws for whatever is not as AWS documents it. */
export const readSes = (body: unknown): SesNews => {
  const message = unwrapped(body);
  if (message === null || v.is(SetUp, message)) return { account: null, told: [] };
  const news = v.parse(News, message);
  const account = news.mail.tags?.[ACCOUNT_TAG]?.[0] ?? null;
  return { account, told: toldBy(news, message) };
};

const Envelope = v.object({ Type: v.string(), Message: v.string() });

/** SES writes so, once, when a topic is set up for events. */
const GREETING = /^Successfully validated SNS topic/;
/** And so when it is set up for notifications. */
const SetUp = v.object({ notificationType: v.literal("AmazonSnsSubscriptionSucceeded") });

/** What is inside, or null when there is nothing to count in it. */
const unwrapped = (body: unknown): unknown => {
  if (typeof body === "string") return GREETING.test(body) ? null : unwrapped(JSON.parse(body));
  const envelope = v.safeParse(Envelope, body);
  if (!envelope.success) return body;
  const { Type: type, Message: message } = envelope.output;
  if (type !== "Notification") return null;
  return GREETING.test(message) ? null : JSON.parse(message);
};

const Timestamp = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text)), "is no timestamp"),
);

const News = v.pipe(
  v.looseObject({
    eventType: v.optional(v.string()),
    notificationType: v.optional(v.string()),
    mail: v.looseObject({
      messageId: v.string(),
      timestamp: Timestamp,
      destination: v.array(v.string()),
      tags: v.optional(v.record(v.string(), v.array(v.string()))),
    }),
  }),
  v.transform(({ eventType, notificationType, mail }) => ({
    type: eventType ?? notificationType ?? "",
    mail,
  })),
  v.check(({ type }) => type !== "", "says neither eventType nor notificationType"),
);

type News = v.InferOutput<typeof News>;

/** What is told, of whom, when, and what tells it from another of its kind about the same mail. */
type Report = Pick<Told, "type" | "userAgent"> & {
  readonly recipients: readonly string[];
  readonly at: string;
  readonly detail: string;
};

type Read = (message: unknown, mail: News["mail"]) => Report;

const Person = v.looseObject({ emailAddress: v.string() });
const addressesOf = (people: readonly { readonly emailAddress: string }[]) =>
  people.map(({ emailAddress }) => emailAddress);

const Delivery = v.object({
  delivery: v.looseObject({ timestamp: Timestamp, recipients: v.array(v.string()) }),
});
const Bounce = v.object({
  bounce: v.looseObject({
    timestamp: Timestamp,
    feedbackId: v.string(),
    bouncedRecipients: v.array(Person),
  }),
});
const Complaint = v.object({
  complaint: v.looseObject({
    timestamp: Timestamp,
    feedbackId: v.string(),
    complaintFeedbackType: v.nullish(v.string()),
    complainedRecipients: v.array(Person),
  }),
});
const Delay = v.object({
  deliveryDelay: v.looseObject({ timestamp: Timestamp, delayedRecipients: v.array(Person) }),
});
const Open = v.object({
  open: v.looseObject({ timestamp: Timestamp, userAgent: v.optional(v.string()) }),
});
const Click = v.object({
  click: v.looseObject({
    timestamp: Timestamp,
    userAgent: v.optional(v.string()),
    link: v.optional(v.string(), ""),
  }),
});
const Reject = v.object({ reject: v.looseObject({ reason: v.optional(v.string()) }) });

/** Somebody took the mail out of the spam folder: a report in the form of a complaint, which says the opposite. */
const NOT_SPAM = "not-spam";

/** SES does not say who of several opened, so it counts for none of them. */
const onlyOne = ({ destination }: News["mail"]): readonly string[] =>
  destination.length === 1 ? destination : [];

const READERS: Readonly<Record<string, Read>> = {
  Delivery: (message) => {
    const { timestamp: at, recipients } = v.parse(Delivery, message).delivery;
    return { type: "delivery", recipients, at, detail: "" };
  },
  Bounce: (message) => {
    const { timestamp: at, feedbackId, bouncedRecipients } = v.parse(Bounce, message).bounce;
    return { type: "bounce", recipients: addressesOf(bouncedRecipients), at, detail: feedbackId };
  },
  Complaint: (message) => {
    const { complaint } = v.parse(Complaint, message);
    const isTakenBack = complaint.complaintFeedbackType === NOT_SPAM;
    const recipients = isTakenBack ? [] : addressesOf(complaint.complainedRecipients);
    return { type: "complaint", recipients, at: complaint.timestamp, detail: complaint.feedbackId };
  },
  DeliveryDelay: (message) => {
    const { timestamp: at, delayedRecipients } = v.parse(Delay, message).deliveryDelay;
    return { type: "delivery_delay", recipients: addressesOf(delayedRecipients), at, detail: "" };
  },
  Open: (message, mail) => {
    const { timestamp: at, userAgent } = v.parse(Open, message).open;
    return { type: "open", recipients: onlyOne(mail), at, detail: "", userAgent };
  },
  Click: (message, mail) => {
    const { timestamp: at, userAgent, link } = v.parse(Click, message).click;
    return { type: "click", recipients: onlyOne(mail), at, detail: link, userAgent };
  },
  // It says no time of its own: SES rejects a mail when it takes it.
  Reject: (message, mail) => {
    v.parse(Reject, message);
    return { type: "reject", recipients: mail.destination, at: mail.timestamp, detail: "" };
  },
};

/** They say nothing about whether mail arrives and is read. */
const NOT_COUNTED = ["Send", "Rendering Failure", "Subscription"];

const toldBy = ({ type, mail }: News, message: unknown): readonly Told[] => {
  if (NOT_COUNTED.includes(type)) return [];
  const read = READERS[type];
  if (!read) throw new Error(`SES publishes no ${type}`);
  const { recipients, at, detail, ...what } = read(message, mail);
  return recipients.flatMap((recipient) => {
    const address = addressIn(recipient);
    return address === undefined
      ? []
      : {
          ...what,
          // SNS may publish one event under two ids, and raw messages have none.
          id: fingerprint([what.type, mail.messageId, address.canonical, at, detail]),
          address,
          at: new Date(at),
          deliveredAt: new Date(mail.timestamp),
        };
  });
};

const NAMED = /<([^<>]+)>\s*$/;

/** Of what is no address nobody can ever ask, so there is nothing to keep. */
const addressIn = (text: string): Address | undefined => {
  const parsed = parseAddress(NAMED.exec(text)?.[1] ?? text);
  return isAddress(parsed) ? parsed : undefined;
};
