import { describe, expect, test } from "vitest";
import {
  asksForBackoff,
  classify,
  type Finding,
} from "../../../packages/mail/src/smtp/classify.ts";
import type { Reply } from "../../../packages/mail/src/smtp/reply.ts";
import { createReplyReader } from "../../../packages/mail/src/smtp/reply-reader.ts";
import { asRows } from "../../runner/as-rows.ts";
import { parseReply } from "./play.ts";

const at = (line: string, mxHost?: string): Finding =>
  classify(parseReply(line), mxHost === undefined ? { stage: "rcpt" } : { stage: "rcpt", mxHost });

test.each(asRows<[provider: string, line: string, expected: Partial<Finding>, mxHost?: string]>`
  Microsoft 365 without a subscription
    | 451 4.4.4 Mail received as unauthenticated, incoming to a recipient domain configured in a hosted tenant which has no mail-enabled subscriptions. ATTR5
    | ${{ verdict: "risky", reason: "domain_without_mailboxes", aboutUs: false }}
  Microsoft 365 with too much mail for one organisation | 450 4.7.3 Organization queue quota exceeded. | ${{ verdict: "unknown", retry: "later", aboutUs: false }}
  Microsoft 365 with edge blocking, behind any host | 550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [X.prod.outlook.com]
    | ${{ verdict: "invalid", confidence: 0.8 }}
  Microsoft 365 with edge blocking, without the AS code
    | 550 5.4.1 [bob@example.com]: Recipient address rejected: Access denied [DB5EUR03FT012.eop-EUR03.prod.protection.outlook.com 2026-02-03T05:00:00.000Z 08DE000000000000]
    | ${{ verdict: "invalid", confidence: 0.8 }}
  a Google group
    | ${"550-5.7.1 We're writing to let you know that the group you tried to contact (sales) may\n550-5.7.1 not exist, or you may not have permission to post messages to it.\n550 5.7.1 - gsmtp"}
    | ${{ verdict: "unknown", reason: "recipient_restricted" }}
  Gmail, full and left behind
    | ${"552-5.2.2 The recipient's inbox is out of storage space and inactive. Please direct the\n552 5.2.2 recipient to https://support.google.com/mail/?p=OverQuotaPerm a.1 - gsmtp"}
    | ${{ verdict: "risky", reason: "mailbox_abandoned" }}
  QQ, too much mail for one person | 550 Mailbox unavailable or access denied | ${{ verdict: "risky", reason: "mailbox_rate_limited" }} | mx3.qq.com
  Cox with QQ's words, for a mailbox that does not exist | 550 Mailbox unavailable or access denied - <bob@cox.net> | ${{ verdict: "unknown" }} | post1.cox.net
  others with QQ's spelling | 550 Mailbox unavailable or access denined | ${{ verdict: "unknown" }} | mx.example.com
  QQ, misspelled | 550 Mailbox unavailable or access denined | ${{ verdict: "risky", reason: "mailbox_rate_limited" }} | mx3.qq.com
  Yandex, account blocked | 550 5.7.1 Policy rejection on the target address | ${{ verdict: "invalid", reason: "mailbox_disabled" }} | mx.yandex.ru
  others with Yandex's words | 550 5.7.1 Policy rejection on the target address | ${{ verdict: "unknown" }} | mx.example.com
  GMX and web.de, unknown | ${"550-Requested action not taken: mailbox unavailable\n550 For explanation visit https://postmaster.gmx.net/en/case?c=r0103"}
    | ${{ verdict: "invalid", reason: "mailbox_not_found" }}
  GMX and web.de, policy
    | ${"550-Requested action not taken: mailbox unavailable\n550-Reject due to policy restrictions.\n550 For explanation visit https://postmaster.gmx.net/en/case?c=r0601"}
    | ${{ verdict: "unknown" }}
  Mimecast with federated accounts | 451 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#451 [abc.uk1]
    | ${{ verdict: "risky", reason: "mailbox_not_found_transient", retry: "later" }} | us-smtp-inbound-2.mimecast.com
  others with Mimecast's words | 451 Invalid Recipient | ${{ verdict: "unknown", reason: "mailbox_not_found_transient", retry: "later" }}
  ZEROSPAM | 550 5.1.1 Not in recipient list | ${{ verdict: "invalid", reason: "mailbox_not_found" }}
  Rambler, blocked | 540 5.7.1 <bob@rambler.ru>: Recipient address rejected: Blocked | ${{ verdict: "invalid", reason: "mailbox_disabled" }}
  Rambler, inactive | 540 5.7.1 <bob@rambler.ru>: Recipient address rejected: Inactive | ${{ verdict: "invalid", reason: "mailbox_disabled" }}
  docomo | 552 Too much mail data | ${{ verdict: "risky", reason: "mailbox_full" }}
  i.ua, unknown | 550 http://mail.i.ua/err/2/ | ${{ verdict: "invalid" }}
  i.ua, unused | 550 http://mail.i.ua/err/3/ | ${{ verdict: "invalid", reason: "mailbox_disabled" }}
  i.ua, full | 550 http://mail.i.ua/err/4/ | ${{ verdict: "risky", reason: "mailbox_full" }}
  i.ua, another page | 550 http://mail.i.ua/err/24/ | ${{ verdict: "unknown" }}
  Outlook, a sender without authentication | 550 5.7.515 Access denied, the sending domain does not meet the required level | ${{ verdict: "unknown", reason: "sender_auth_failed", aboutUs: true }}
  RFC 7293, another owner | 550 5.7.17 Mailbox owner has changed | ${{ verdict: "risky", reason: "mailbox_owner_changed" }}
  AT&T | 521 5.0.0 198.51.100.7 is blocked. For assistance forward this email to abuse_rbl@abuse-att.net
    | ${{ verdict: "unknown", reason: "ip_blocked", aboutUs: true }}
  AT&T, older | 553 5.3.0 flpd575 521< 198.51.100.7 >_is_blocked.For assistance forward this email to abuse_rbl@abuse-att.net
    | ${{ verdict: "unknown", reason: "ip_blocked", aboutUs: true }}
`)("%s", (_provider, line, expected, mxHost) => {
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

describe("quoted reply", () => {
  // A gateway asks the server behind it and passes its refusal on. As they are read off the wire.

  const read = (lines: string): Reply => {
    const reply = createReplyReader()(Buffer.from(`${lines.replaceAll("\n", "\r\n")}\r\n`)).at(-1);
    if (typeof reply !== "object") throw new Error(`no reply: ${lines}`);
    return reply;
  };

  const at = (lines: string): Finding => classify(read(lines), { stage: "rcpt" });

  const UNDELIVERABLE =
    "<bob@example.com>: Recipient address rejected: undeliverable address: host mx.example.net[192.0.2.5] said:";
  const UNVERIFIED =
    "<bob@example.com>: Recipient address rejected: unverified address: host mx.example.net[192.0.2.5] said:";

  test.each(asRows<[name: string, lines: string, expected: Partial<Finding>]>`
  Postfix quotes an unknown user
    | ${`550 5.1.1 ${UNDELIVERABLE} 550 5.1.1 <bob@example.com>: Recipient address rejected: User unknown in virtual mailbox table (in reply to RCPT TO command)`}
    | ${{ verdict: "invalid", reason: "mailbox_not_found", aboutUs: false }}
  Postfix quotes one without an enhanced code | ${`550 5.1.1 ${UNDELIVERABLE} 550 No such user here (in reply to RCPT TO command)`}
    | ${{ verdict: "invalid", reason: "mailbox_not_found" }}
  Postfix quotes a full mailbox | ${`550 5.1.1 ${UNDELIVERABLE} 552 5.2.2 Mailbox full (in reply to RCPT TO command)`}
    | ${{ verdict: "risky", reason: "mailbox_full", retry: null }}
  Postfix quotes a Postfix that quotes another one
    | ${`550 5.1.1 ${UNDELIVERABLE} 550 5.1.1 <bob@example.com>: Recipient address rejected: undeliverable address: host mx.example.org[192.0.2.6] said: 552 5.2.2 Over quota (in reply to RCPT TO command) (in reply to RCPT TO command)`}
    | ${{ verdict: "risky", reason: "mailbox_full" }}
  the quoted server refuses the gateway, and not us
    | ${`550 5.1.1 ${UNDELIVERABLE} 554 5.7.1 Client host [203.0.113.9] blocked using zen.spamhaus.org (in reply to RCPT TO command)`}
    | ${{ verdict: "unknown", reason: "ip_blocked", aboutUs: false }}
  a gateway that defers is believed, whatever it quotes | ${`450 4.1.1 ${UNVERIFIED} 550 5.1.1 User unknown (in reply to RCPT TO command)`}
    | ${{ verdict: "unknown", reason: "mailbox_not_found_transient", retry: "later" }}
  a quoted deferral is not made permanent by the gateway | ${`550 5.1.1 ${UNDELIVERABLE} 450 4.1.1 User unknown (in reply to RCPT TO command)`}
    | ${{ verdict: "unknown", retry: null }}
  the quoted server greylists the gateway | ${`450 4.1.1 ${UNVERIFIED} 450 4.7.1 Greylisted (in reply to RCPT TO command)`}
    | ${{ verdict: "unknown", reason: "greylisted", retry: "later", aboutUs: false }}
  the next host cannot be reached, and the address in the reply is its own
    | 450 4.1.1 <bob@example.com>: Recipient address rejected: unverified address: connect to mx.example.net[192.0.2.5]:25: Connection refused
    | ${{ verdict: "unknown", reason: "network_error", aboutUs: false }}
  the next host turns the gateway away
    | 450 4.1.1 <bob@example.com>: Recipient address rejected: unverified address: host mx.example.net[192.0.2.5] refused to talk to me: 554 5.7.1 Your IP address is blocked
    | ${{ verdict: "unknown", reason: "ip_blocked", aboutUs: false }}
  Exim quotes an unknown user | ${"550-Callout verification failed:\n550 550 5.1.1 <bob@example.com>: User unknown"}
    | ${{ verdict: "invalid", reason: "mailbox_not_found", aboutUs: false }}
  Exim quotes a server that blocks Exim | ${"550-Callout verification failed:\n550 554 5.7.1 203.0.113.9 is blacklisted"} | ${{ verdict: "unknown", aboutUs: false }}
  Exim names the host | 550 bob@example.com: host mx.example.net [192.0.2.5]: 550 5.1.1 User unknown | ${{ verdict: "invalid", reason: "mailbox_not_found" }}
  Barracuda quotes an unknown user | 550 permanent failure for one or more recipients (bob@example.com:550 5.1.1 User unknown)
    | ${{ verdict: "invalid", reason: "mailbox_not_found" }}
  Barracuda quotes Microsoft's edge
    | 550 permanent failure for one or more recipients (bob@example.com:550 5.4.1 Recipient address rejected: Access denied. AS(201806281))
    | ${{ verdict: "invalid", reason: "mailbox_not_found", confidence: 0.8 }}
  Barracuda blocks, and quotes no server | 550 permanent failure for one or more recipients (bob@example.com:blocked)
    | ${{ verdict: "unknown", reason: "policy_blocked" }}
`)("%s", (_name, lines, expected) => {
    expect(at(lines)).toMatchObject(expected);
  });

  test.each([
    "550 5.1.0 <probe@example.org>: Sender address rejected: undeliverable address: host mx.example.org[192.0.2.5] said: 550 5.1.1 User unknown (in reply to RCPT TO command)",
    "550-Verification failed for <probe@example.org>\n550-Called:   192.0.2.5\n550-Sent:     RCPT TO:<probe@example.org>\n550-Response: 550 5.1.1 User unknown\n550 Sender verify failed",
    "550-Callback setup failed while verifying <probe@example.org>\n550-Called:   192.0.2.5\n550-Sent:     MAIL FROM:<>\n550-Response: 550 No such user\n550 Sender verify failed",
  ])("a server that asked about our sender quotes the reply about our sender: %s", (lines) => {
    expect(at(lines)).toMatchObject({
      verdict: "unknown",
      reason: "sender_rejected",
      aboutUs: true,
    });
  });

  test("a backoff that another server asked the gateway for is none of ours", () => {
    const harvest = "550 5.1.1 Address harvesting is not welcome";

    expect(asksForBackoff(read(harvest), { stage: "rcpt" })).toBe(true);
    expect(asksForBackoff(read(`550 5.1.1 ${UNDELIVERABLE} ${harvest}`), { stage: "rcpt" })).toBe(
      false,
    );
  });
});
