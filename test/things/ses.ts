import type { Json } from "@mailproof/core/ports/table";

// What Amazon SES publishes, in the shape of its documentation and with values of our own.

type Fields = { readonly [field: string]: Json };

export const SENT = "2026-11-20T09:00:00.000Z";
export const LATER = "2026-11-20T14:30:00.000Z";

type Mail = { readonly account?: string; readonly to?: readonly string[]; readonly id?: string };

const createMail = ({ account, to = ["ann@x.com"], id = "0100-mail-1" }: Mail): Fields => ({
  timestamp: SENT,
  source: "Shop <news@shop.example>",
  sourceArn: "arn:aws:ses:eu-central-1:111122223333:identity/shop.example",
  sendingAccountId: "111122223333",
  messageId: id,
  destination: to,
  headersTruncated: false,
  headers: [{ name: "Subject", value: "Winter" }],
  commonHeaders: { from: ["Shop <news@shop.example>"], to, messageId: id, subject: "Winter" },
  tags: {
    "ses:configuration-set": ["tracked"],
    "ses:source-ip": ["192.0.2.1"],
    "ses:from-domain": ["shop.example"],
    "ses:caller-identity": ["mailer"],
    ...(account !== undefined && { mailproof_account: [account] }),
  },
});

/** The part of each type besides the mail. */
const SES_PARTS: Readonly<Record<string, (to: readonly string[]) => Fields>> = {
  Delivery: (to) => ({
    delivery: {
      timestamp: "2026-11-20T09:00:02.100Z",
      processingTimeMillis: 2_100,
      recipients: to,
      smtpResponse: "250 2.6.0 Message received",
      reportingMTA: "mta.example",
    },
  }),
  Bounce: (to) => ({
    bounce: {
      feedbackId: "0100-bounce-1",
      bounceType: "Permanent",
      bounceSubType: "General",
      bouncedRecipients: to.map((emailAddress) => ({
        emailAddress,
        action: "failed",
        status: "5.1.1",
        diagnosticCode: "smtp; 550 5.1.1 user unknown",
      })),
      timestamp: "2026-11-20T09:00:03.000Z",
      reportingMTA: "dsn; mta.example",
    },
  }),
  Complaint: (to) => ({
    complaint: {
      feedbackId: "0100-complaint-1",
      complaintSubType: null,
      complainedRecipients: to.map((emailAddress) => ({ emailAddress })),
      timestamp: LATER,
      userAgent: "Amazon SES Mailbox Simulator",
      complaintFeedbackType: "abuse",
      arrivalDate: LATER,
    },
  }),
  Open: () => ({
    open: {
      timestamp: LATER,
      userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148",
      ipAddress: "192.0.2.7",
    },
  }),
  Click: () => ({
    click: {
      timestamp: LATER,
      ipAddress: "192.0.2.7",
      userAgent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
      link: "https://shop.example/winter",
      linkTags: { campaign: ["winter"] },
    },
  }),
  Reject: () => ({ reject: { reason: "Bad content" } }),
  DeliveryDelay: (to) => ({
    deliveryDelay: {
      timestamp: "2026-11-20T10:00:00.000Z",
      delayType: "TransientCommunicationFailure",
      expirationTime: "2026-11-21T09:00:00.000Z",
      reportingMTA: "mta.example",
      delayedRecipients: to.map((emailAddress) => ({
        emailAddress,
        status: "4.4.1",
        diagnosticCode: "smtp; 421 4.4.1 Unable to connect to remote host",
      })),
    },
  }),
  Send: () => ({ send: {} }),
  "Rendering Failure": () => ({
    failure: { errorMessage: "Attribute 'name' is not present", templateName: "winter" },
  }),
  Subscription: () => ({
    subscription: { contactList: "shop", timestamp: LATER, source: "UnsubscribeHeader" },
  }),
};

/** An event with raw message delivery: the body is the event. */
export const createSesEvent = (type: string, mail: Mail = {}, part: Fields = {}): Fields => ({
  eventType: type,
  mail: createMail(mail),
  ...SES_PARTS[type]?.(mail.to ?? ["ann@x.com"]),
  ...part,
});

/** The same without it: a string in the envelope of SNS. */
export const wrapInEnvelope = (message: Json, id = "sns-1"): Fields => ({
  Type: "Notification",
  MessageId: id,
  TopicArn: "arn:aws:sns:eu-central-1:111122223333:ses-events",
  Subject: "Amazon SES Email Event Notification",
  Message: typeof message === "string" ? message : JSON.stringify(message),
  Timestamp: LATER,
  SignatureVersion: "1",
  Signature: "c2lnbmF0dXJl",
  SigningCertURL: "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService.pem",
  UnsubscribeURL: "https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe",
});

/** The id that SES gives a mail: it is in the notification, in the key and in SES's own Received field. */
export const SES_ID = "4f0cu9ms42o1g11adqbrn9jq4r3oi32a5365so01";

type ReceivedFields = { readonly received?: string; readonly others?: readonly string[] };

/** What SES puts above a mail. */
export const createSesFields = ({
  received = `from out.shop.example (host.shop.example [192.0.2.1])\r\n by inbound-smtp.eu-west-1.amazonaws.com with SMTP id ${SES_ID}\r\n for x@mail.example.com;\r\n Sat, 21 Nov 2026 00:00:00 +0000 (UTC)`,
  others = [
    "X-SES-Spam-Verdict: PASS",
    "Received-SPF: pass (spfCheck: domain of shop.example designates 192.0.2.1 as permitted sender) client-ip=192.0.2.1; envelope-from=news@shop.example; helo=mx.shop.example;",
    "Authentication-Results: amazonses.com;\r\n spf=pass client-ip=192.0.2.1; envelope-from=news@shop.example; helo=mx.shop.example;",
    "X-SES-RECEIPT: AEFBQUFB",
    "X-SES-DKIM-SIGNATURE: a=rsa-sha256; q=dns/txt; b=YWJj",
  ],
}: ReceivedFields = {}): string =>
  ["Return-Path: <news@shop.example>", `Received: ${received}`, ...others, ""].join("\r\n");

/** What SES publishes when it has stored a mail (AWS: "Examples of notifications for Amazon SES email receiving"). */
export const createReceipt = (recipients: readonly string[], source = "news@shop.example") => ({
  notificationType: "Received",
  mail: {
    timestamp: "2026-11-21T00:00:00.000Z",
    source,
    messageId: SES_ID,
    destination: [...recipients],
    headersTruncated: true,
    headers: [],
    commonHeaders: {},
  },
  receipt: {
    timestamp: "2026-11-21T00:00:00.000Z",
    processingTimeMillis: 222,
    recipients: [...recipients],
    spfVerdict: { status: "PASS" },
    dkimVerdict: { status: "PASS" },
    dmarcVerdict: { status: "PASS" },
    action: {
      type: "S3",
      topicArn: "arn:aws:sns:eu-west-1:123456789012:InboundMail",
      bucketName: "mailproof",
      objectKeyPrefix: "inbound/",
      objectKey: `inbound/${SES_ID}`,
    },
  },
});
