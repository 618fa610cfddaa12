import type { Address } from "@mailproof/mail/address";
import { readAddress } from "@mailproof/mail/address-cell";
import type { BounceReport } from "@mailproof/mail/bounce-kind";
import * as v from "valibot";
import { fingerprint } from "../lib/fingerprint.ts";
import type { MailEvent } from "./events.ts";

// Parses the messages of Amazon SES, from event publishing (eventType) and from its older notifications (notificationType). The
// queue delivers them in an SNS envelope, or bare with raw message delivery.

/** This tag of a mail contains its account's id. AWS allows letters, digits, _ and - in a tag, as in an account's id. */
const ACCOUNT_TAG = "mailproof_account";

/** Throws when the message does not match AWS's documentation. */
export const parseSesMessage = (body: unknown) => {
  const message = unwrapEnvelope(body);
  if (message === null || v.is(SubscriptionSucceeded, message))
    return { account: null, events: [] };
  const notification = v.parse(SesNotification, message);
  const account = notification.mail.tags?.[ACCOUNT_TAG]?.[0] ?? null;
  return { account, events: toEvents(notification, message) };
};

const Envelope = v.object({ Type: v.string(), Message: v.string() });

/** SES sends this once when an operator sets up a topic for events. */
const TOPIC_VALIDATED = /^Successfully validated SNS topic/;
/** SES sends this when an operator sets up a topic for notifications. */
const SubscriptionSucceeded = v.object({
  notificationType: v.literal("AmazonSnsSubscriptionSucceeded"),
});

/** Returns the message in the envelope, or null when it contains nothing to count. */
const unwrapEnvelope = (body: unknown): unknown => {
  if (typeof body === "string")
    return TOPIC_VALIDATED.test(body) ? null : unwrapEnvelope(JSON.parse(body));
  const envelope = v.safeParse(Envelope, body);
  if (!envelope.success) return body;
  const { Type: type, Message: message } = envelope.output;
  if (type !== "Notification") return null;
  return TOPIC_VALIDATED.test(message) ? null : JSON.parse(message);
};

const Timestamp = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text)), "is no timestamp"),
);

const SesNotification = v.pipe(
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
  v.check(({ type }) => type !== "", "has neither eventType nor notificationType"),
);

type SesNotification = v.InferOutput<typeof SesNotification>;

/** An event with its recipients and time. `detail` distinguishes events of the same type about the same mail. */
type EventReport = Pick<MailEvent, "type" | "userAgent"> & {
  readonly recipients: readonly string[];
  readonly at: string;
  readonly detail: string;
  readonly bounces?: ReadonlyMap<string, BounceReport>;
};

type ReadReport = (message: unknown, mail: SesNotification["mail"]) => EventReport;

const Recipient = v.looseObject({ emailAddress: v.string() });
const BouncedRecipient = v.looseObject({
  emailAddress: v.string(),
  diagnosticCode: v.optional(v.string()),
});
const listAddresses = (recipients: readonly { readonly emailAddress: string }[]) =>
  recipients.map(({ emailAddress }) => emailAddress);

const Delivery = v.object({
  delivery: v.looseObject({ timestamp: Timestamp, recipients: v.array(v.string()) }),
});
const Bounce = v.object({
  bounce: v.looseObject({
    timestamp: Timestamp,
    feedbackId: v.string(),
    bounceType: v.optional(v.string()),
    bounceSubType: v.optional(v.string()),
    bouncedRecipients: v.array(BouncedRecipient),
  }),
});
const Complaint = v.object({
  complaint: v.looseObject({
    timestamp: Timestamp,
    feedbackId: v.string(),
    complaintFeedbackType: v.nullish(v.string()),
    complainedRecipients: v.array(Recipient),
  }),
});
const Delay = v.object({
  deliveryDelay: v.looseObject({ timestamp: Timestamp, delayedRecipients: v.array(Recipient) }),
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

/** SES did not send the mail, or the mail server refused the content and not the mailbox. */
const NOT_OF_THE_MAILBOX =
  /^(?:Suppressed|OnAccountSuppressionList|MessageTooLarge|ContentRejected|AttachmentRejected)$/;

const toBounceReport = (
  {
    bounceType,
    bounceSubType = "",
  }: { readonly bounceType?: string | undefined; readonly bounceSubType?: string | undefined },
  diagnostic: string | undefined,
): BounceReport => {
  if (NOT_OF_THE_MAILBOX.test(bounceSubType)) return {};
  const type = { Permanent: "hard", Transient: "soft" } as const;
  return {
    ...((bounceType === "Permanent" || bounceType === "Transient") && { type: type[bounceType] }),
    ...(diagnostic !== undefined && { diagnostic }),
  };
};

/** The recipient moved the mail out of the spam folder. SES reports this in the form of a complaint, but it means the opposite. */
const NOT_SPAM = "not-spam";

/** SES does not report which of several recipients opened the mail, so the event counts for none of them. */
const findOnlyRecipient = ({ destination }: SesNotification["mail"]): readonly string[] =>
  destination.length === 1 ? destination : [];

const REPORT_READERS: Readonly<Record<string, ReadReport>> = {
  Delivery: (message) => {
    const { timestamp: at, recipients } = v.parse(Delivery, message).delivery;
    return { type: "delivery", recipients, at, detail: "" };
  },
  Bounce: (message) => {
    const { bounce } = v.parse(Bounce, message);
    const { timestamp: at, feedbackId, bouncedRecipients } = bounce;
    const bounces = new Map(
      bouncedRecipients.map((one) => [
        one.emailAddress,
        toBounceReport(bounce, one.diagnosticCode),
      ]),
    );
    const recipients = listAddresses(bouncedRecipients);
    return { type: "bounce", recipients, at, detail: feedbackId, bounces };
  },
  Complaint: (message) => {
    const { complaint } = v.parse(Complaint, message);
    const isNotSpam = complaint.complaintFeedbackType === NOT_SPAM;
    const recipients = isNotSpam ? [] : listAddresses(complaint.complainedRecipients);
    return { type: "complaint", recipients, at: complaint.timestamp, detail: complaint.feedbackId };
  },
  DeliveryDelay: (message) => {
    const { timestamp: at, delayedRecipients } = v.parse(Delay, message).deliveryDelay;
    return { type: "delivery_delay", recipients: listAddresses(delayedRecipients), at, detail: "" };
  },
  Open: (message, mail) => {
    const { timestamp: at, userAgent } = v.parse(Open, message).open;
    return { type: "open", recipients: findOnlyRecipient(mail), at, detail: "", userAgent };
  },
  Click: (message, mail) => {
    const { timestamp: at, userAgent, link } = v.parse(Click, message).click;
    return { type: "click", recipients: findOnlyRecipient(mail), at, detail: link, userAgent };
  },
  // A reject has no time of its own: SES rejects a mail when it accepts the request.
  Reject: (message, mail) => {
    v.parse(Reject, message);
    return { type: "reject", recipients: mail.destination, at: mail.timestamp, detail: "" };
  },
};

const IGNORED_TYPES = ["Send", "Rendering Failure", "Subscription"];

const toEvents = ({ type, mail }: SesNotification, message: unknown): readonly MailEvent[] => {
  if (IGNORED_TYPES.includes(type)) return [];
  const read = REPORT_READERS[type];
  if (!read) throw new Error(`SES publishes no ${type}`);
  const { recipients, at, detail, bounces, ...event } = read(message, mail);
  return recipients.flatMap((recipient) => {
    const address = parseRecipient(recipient);
    return address === undefined
      ? []
      : {
          ...event,
          // SNS may publish one event under two ids, and raw messages have no id.
          id: fingerprint([event.type, mail.messageId, address.canonical, at, detail]),
          address,
          at: new Date(at),
          bounce: bounces?.get(recipient),
          deliveredAt: new Date(mail.timestamp),
        };
  });
};

/** Undefined for an invalid address, because activity is stored only for valid addresses. */
const parseRecipient = (text: string): Address | undefined =>
  readAddress(text).address ?? undefined;
