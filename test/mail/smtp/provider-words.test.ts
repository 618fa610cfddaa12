import { expect, test } from "vitest";
import { classify, type Finding } from "../../../packages/mail/src/smtp/classify.ts";
import { parseReply } from "../../reply-from.ts";

const at = (line: string, mxHost?: string): Finding =>
  classify(parseReply(line), mxHost === undefined ? { stage: "rcpt" } : { stage: "rcpt", mxHost });

test.each<[provider: string, line: string, expected: Partial<Finding>, mxHost?: string]>([
  [
    "Microsoft 365 without a subscription",
    "451 4.4.4 Mail received as unauthenticated, incoming to a recipient domain configured in a hosted tenant which has no mail-enabled subscriptions. ATTR5",
    { verdict: "risky", reason: "domain_without_mailboxes", aboutUs: false },
  ],
  [
    "Microsoft 365 with too much mail for one organisation",
    "450 4.7.3 Organization queue quota exceeded.",
    { verdict: "unknown", retry: "later", aboutUs: false },
  ],
  [
    "Microsoft 365 with edge blocking, behind any host",
    "550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [X.prod.outlook.com]",
    { verdict: "invalid", confidence: 0.8 },
  ],
  [
    "Microsoft 365 with edge blocking, without the AS code",
    "550 5.4.1 [bob@example.com]: Recipient address rejected: Access denied [DB5EUR03FT012.eop-EUR03.prod.protection.outlook.com 2026-02-03T05:00:00.000Z 08DE000000000000]",
    { verdict: "invalid", confidence: 0.8 },
  ],
  [
    "a Google group",
    "550-5.7.1 We're writing to let you know that the group you tried to contact (sales) may\n550-5.7.1 not exist, or you may not have permission to post messages to it.\n550 5.7.1 - gsmtp",
    { verdict: "unknown", reason: "recipient_restricted" },
  ],
  [
    "Gmail, full and left behind",
    "552-5.2.2 The recipient's inbox is out of storage space and inactive. Please direct the\n552 5.2.2 recipient to https://support.google.com/mail/?p=OverQuotaPerm a.1 - gsmtp",
    { verdict: "risky", reason: "mailbox_abandoned" },
  ],
  [
    "QQ, too much mail for one person",
    "550 Mailbox unavailable or access denied",
    { verdict: "risky", reason: "mailbox_rate_limited" },
    "mx3.qq.com",
  ],
  [
    "Cox with QQ's words, for a mailbox that does not exist",
    "550 Mailbox unavailable or access denied - <bob@cox.net>",
    { verdict: "unknown" },
    "post1.cox.net",
  ],
  [
    "others with QQ's spelling",
    "550 Mailbox unavailable or access denined",
    { verdict: "unknown" },
    "mx.example.com",
  ],
  [
    "QQ, misspelled",
    "550 Mailbox unavailable or access denined",
    { verdict: "risky", reason: "mailbox_rate_limited" },
    "mx3.qq.com",
  ],
  [
    "Yandex, account blocked",
    "550 5.7.1 Policy rejection on the target address",
    { verdict: "invalid", reason: "mailbox_disabled" },
    "mx.yandex.ru",
  ],
  [
    "others with Yandex's words",
    "550 5.7.1 Policy rejection on the target address",
    { verdict: "unknown" },
    "mx.example.com",
  ],
  [
    "GMX and web.de, unknown",
    "550-Requested action not taken: mailbox unavailable\n550 For explanation visit https://postmaster.gmx.net/en/case?c=r0103",
    { verdict: "invalid", reason: "mailbox_not_found" },
  ],
  [
    "GMX and web.de, policy",
    "550-Requested action not taken: mailbox unavailable\n550-Reject due to policy restrictions.\n550 For explanation visit https://postmaster.gmx.net/en/case?c=r0601",
    { verdict: "unknown" },
  ],
  [
    "Mimecast with federated accounts",
    "451 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#451 [abc.uk1]",
    { verdict: "risky", reason: "mailbox_not_found_transient", retry: "later" },
    "us-smtp-inbound-2.mimecast.com",
  ],
  [
    "others with Mimecast's words",
    "451 Invalid Recipient",
    { verdict: "unknown", reason: "mailbox_not_found_transient", retry: "later" },
  ],
  [
    "ZEROSPAM",
    "550 5.1.1 Not in recipient list",
    { verdict: "invalid", reason: "mailbox_not_found" },
  ],
  [
    "Rambler, blocked",
    "540 5.7.1 <bob@rambler.ru>: Recipient address rejected: Blocked",
    { verdict: "invalid", reason: "mailbox_disabled" },
  ],
  [
    "Rambler, inactive",
    "540 5.7.1 <bob@rambler.ru>: Recipient address rejected: Inactive",
    { verdict: "invalid", reason: "mailbox_disabled" },
  ],
  ["docomo", "552 Too much mail data", { verdict: "risky", reason: "mailbox_full" }],
  ["i.ua, unknown", "550 http://mail.i.ua/err/2/", { verdict: "invalid" }],
  [
    "i.ua, unused",
    "550 http://mail.i.ua/err/3/",
    { verdict: "invalid", reason: "mailbox_disabled" },
  ],
  ["i.ua, full", "550 http://mail.i.ua/err/4/", { verdict: "risky", reason: "mailbox_full" }],
  ["i.ua, another page", "550 http://mail.i.ua/err/24/", { verdict: "unknown" }],
  [
    "RFC 7293, another owner",
    "550 5.7.17 Mailbox owner has changed",
    { verdict: "risky", reason: "mailbox_owner_changed" },
  ],
  [
    "AT&T",
    "521 5.0.0 198.51.100.7 is blocked. For assistance forward this email to abuse_rbl@abuse-att.net",
    { verdict: "unknown", reason: "ip_blocked", aboutUs: true },
  ],
  [
    "AT&T, older",
    "553 5.3.0 flpd575 521< 198.51.100.7 >_is_blocked.For assistance forward this email to abuse_rbl@abuse-att.net",
    { verdict: "unknown", reason: "ip_blocked", aboutUs: true },
  ],
])("%s", (_provider, line, expected, mxHost) => {
  expect(at(line, mxHost)).toMatchObject(expected);
});

test.each(["521 <198.51.100.7> is blocked", "521 5.7.1 Blocked"])(
  "a host that blocks us at its greeting takes other mail: %s",
  (line) => {
    expect(classify(parseReply(line), { stage: "greeting" })).toMatchObject({
      verdict: "unknown",
      reason: "ip_blocked",
      aboutUs: true,
    });
  },
);

test.each([
  "550 Sender address unavailable",
  "550 Sender mailbox unavailable",
  "550 Reverse-path rejected: unknown",
  "550 The reverse path does not exist",
  "550 Return address unknown",
  "550 Originating address does not exist",
  "550 Originating domain not found",
  "550 Sending domain does not exist",
  "550 Sending address rejected, unknown user",
  "550 MAIL FROM address does not exist",
  "550 mailfrom user unknown",
  "550 From: user unknown",
  "550 User unknown at the sender's host",
])("words for an unknown mailbox may be about our sender: %s", (line) => {
  expect(at(line)).toMatchObject({ verdict: "unknown", aboutUs: true });
});

test.each([
  "550 5.1.1 Blocked",
  "550 5.1.1 Denied",
  "550 5.1.1 Message refused by greylisting",
  "550 5.1.1 This client is blocked",
  "550 5.1.1 Forbidden",
  "550 5.1.1 Rejected for policy reasons",
  "550 User unknown; client blocked by the administrator",
])("5.1.1 is no proof beside words that block: %s", (line) => {
  expect(at(line).verdict).toBe("unknown");
});
