import * as v from "valibot";

// The notification that Amazon SES publishes after it has stored a mail in S3. AWS documents it under "Contents of
// notifications for Amazon SES email receiving".

export type SesReceipt = {
  readonly messageId: string;
  readonly blob: string;
  /** The address of MAIL FROM, "" for the null reverse-path. */
  readonly mailFrom: string;
  readonly recipients: readonly string[];
  readonly receivedAt: Date;
};

const Notification = v.object({
  notificationType: v.literal("Received"),
  mail: v.object({
    messageId: v.string(),
    source: v.string(),
    timestamp: v.pipe(v.string(), v.isoTimestamp()),
  }),
  receipt: v.object({
    recipients: v.array(v.string()),
    action: v.object({ type: v.literal("S3"), objectKey: v.string() }),
  }),
});

/** Throws when the message does not match AWS's documentation. */
export const parseReceipt = (body: unknown): SesReceipt => {
  const { mail, receipt } = v.parse(Notification, body);
  return {
    messageId: mail.messageId,
    blob: receipt.action.objectKey,
    // SES has no notation for the null reverse-path.
    mailFrom: mail.source.includes("@") ? mail.source : "",
    recipients: receipt.recipients,
    receivedAt: new Date(mail.timestamp),
  };
};
