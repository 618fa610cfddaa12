/** The id that SES gives a mail: it is in the notification, in the key and in SES's own Received field. */
export const SES_ID = "4f0cu9ms42o1g11adqbrn9jq4r3oi32a5365so01";

type Fields = { readonly received?: string; readonly others?: readonly string[] };

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
}: Fields = {}): string =>
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
