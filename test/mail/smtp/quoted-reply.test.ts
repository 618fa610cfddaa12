import { expect, test } from "vitest";
import {
  asksForBackoff,
  classify,
  type Finding,
} from "../../../packages/mail/src/smtp/classify.ts";
import type { Reply } from "../../../packages/mail/src/smtp/reply.ts";
import { createReplyReader } from "../../../packages/mail/src/smtp/reply-reader.ts";

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

test.each<[name: string, lines: string, expected: Partial<Finding>]>([
  [
    "Postfix quotes an unknown user",
    `550 5.1.1 ${UNDELIVERABLE} 550 5.1.1 <bob@example.com>: Recipient address rejected: User unknown in virtual mailbox table (in reply to RCPT TO command)`,
    { verdict: "invalid", reason: "mailbox_not_found", aboutUs: false },
  ],
  [
    "Postfix quotes one without an enhanced code",
    `550 5.1.1 ${UNDELIVERABLE} 550 No such user here (in reply to RCPT TO command)`,
    { verdict: "invalid", reason: "mailbox_not_found" },
  ],
  [
    "Postfix quotes a full mailbox",
    `550 5.1.1 ${UNDELIVERABLE} 552 5.2.2 Mailbox full (in reply to RCPT TO command)`,
    { verdict: "risky", reason: "mailbox_full", retry: null },
  ],
  [
    "Postfix quotes a Postfix that quotes another one",
    `550 5.1.1 ${UNDELIVERABLE} 550 5.1.1 <bob@example.com>: Recipient address rejected: undeliverable address: host mx.example.org[192.0.2.6] said: 552 5.2.2 Over quota (in reply to RCPT TO command) (in reply to RCPT TO command)`,
    { verdict: "risky", reason: "mailbox_full" },
  ],
  [
    "the quoted server refuses the gateway, and not us",
    `550 5.1.1 ${UNDELIVERABLE} 554 5.7.1 Client host [203.0.113.9] blocked using zen.spamhaus.org (in reply to RCPT TO command)`,
    { verdict: "unknown", reason: "ip_blocked", aboutUs: false },
  ],
  [
    "a gateway that defers is believed, whatever it quotes",
    `450 4.1.1 ${UNVERIFIED} 550 5.1.1 User unknown (in reply to RCPT TO command)`,
    { verdict: "unknown", reason: "mailbox_not_found_transient", retry: "later" },
  ],
  [
    "a quoted deferral is not made permanent by the gateway",
    `550 5.1.1 ${UNDELIVERABLE} 450 4.1.1 User unknown (in reply to RCPT TO command)`,
    { verdict: "unknown", retry: null },
  ],
  [
    "the quoted server greylists the gateway",
    `450 4.1.1 ${UNVERIFIED} 450 4.7.1 Greylisted (in reply to RCPT TO command)`,
    { verdict: "unknown", reason: "greylisted", retry: "later", aboutUs: false },
  ],
  [
    "the next host cannot be reached, and the address in the reply is its own",
    "450 4.1.1 <bob@example.com>: Recipient address rejected: unverified address: connect to mx.example.net[192.0.2.5]:25: Connection refused",
    { verdict: "unknown", reason: "network_error", aboutUs: false },
  ],
  [
    "the next host turns the gateway away",
    "450 4.1.1 <bob@example.com>: Recipient address rejected: unverified address: host mx.example.net[192.0.2.5] refused to talk to me: 554 5.7.1 Your IP address is blocked",
    { verdict: "unknown", reason: "ip_blocked", aboutUs: false },
  ],
  [
    "Exim quotes an unknown user",
    "550-Callout verification failed:\n550 550 5.1.1 <bob@example.com>: User unknown",
    { verdict: "invalid", reason: "mailbox_not_found", aboutUs: false },
  ],
  [
    "Exim quotes a server that blocks Exim",
    "550-Callout verification failed:\n550 554 5.7.1 203.0.113.9 is blacklisted",
    { verdict: "unknown", aboutUs: false },
  ],
  [
    "Exim names the host",
    "550 bob@example.com: host mx.example.net [192.0.2.5]: 550 5.1.1 User unknown",
    { verdict: "invalid", reason: "mailbox_not_found" },
  ],
  [
    "Barracuda quotes an unknown user",
    "550 permanent failure for one or more recipients (bob@example.com:550 5.1.1 User unknown)",
    { verdict: "invalid", reason: "mailbox_not_found" },
  ],
  [
    "Barracuda quotes Microsoft's edge",
    "550 permanent failure for one or more recipients (bob@example.com:550 5.4.1 Recipient address rejected: Access denied. AS(201806281))",
    { verdict: "invalid", reason: "mailbox_not_found", confidence: 0.8 },
  ],
  [
    "Barracuda blocks, and quotes no server",
    "550 permanent failure for one or more recipients (bob@example.com:blocked)",
    { verdict: "unknown", reason: "policy_blocked" },
  ],
])("%s", (_name, lines, expected) => {
  expect(at(lines)).toMatchObject(expected);
});

test.each([
  "550 5.1.0 <probe@example.org>: Sender address rejected: undeliverable address: host mx.example.org[192.0.2.5] said: 550 5.1.1 User unknown (in reply to RCPT TO command)",
  "550-Verification failed for <probe@example.org>\n550-Called:   192.0.2.5\n550-Sent:     RCPT TO:<probe@example.org>\n550-Response: 550 5.1.1 User unknown\n550 Sender verify failed",
  "550-Callback setup failed while verifying <probe@example.org>\n550-Called:   192.0.2.5\n550-Sent:     MAIL FROM:<>\n550-Response: 550 No such user\n550 Sender verify failed",
])("a server that asked about our sender quotes the reply about our sender: %s", (lines) => {
  expect(at(lines)).toMatchObject({ verdict: "unknown", reason: "sender_rejected", aboutUs: true });
});

test("a backoff that another server asked the gateway for is none of ours", () => {
  const harvest = "550 5.1.1 Address harvesting is not welcome";

  expect(asksForBackoff(read(harvest), { stage: "rcpt" })).toBe(true);
  expect(asksForBackoff(read(`550 5.1.1 ${UNDELIVERABLE} ${harvest}`), { stage: "rcpt" })).toBe(
    false,
  );
});
