import type { ReplyRule } from "@mailproof/mail/smtp/reply-rule";
import { describe, expect, test } from "vitest";
import {
  asksForBackoff,
  classify,
  concernsOneDomain,
  type Finding,
  findRefusalOfUs,
  type RefusalOfUs,
} from "../../../packages/mail/src/smtp/classify.ts";
import type { Reply, Stage } from "../../../packages/mail/src/smtp/reply.ts";
import { createReplyReader } from "../../../packages/mail/src/smtp/reply-reader.ts";
import { RULE_FAMILIES } from "../../../packages/mail/src/smtp/reply-rules/rules.ts";
import { asRows } from "../../runner/as-rows.ts";
import { parseReply } from "./play.ts";

const at = (line: string, stage: Stage | "data" = "rcpt", mxHost?: string) =>
  classify(parseReply(line), mxHost === undefined ? { stage } : { stage, mxHost });

const RULES: readonly (readonly [string, ReplyRule])[] = RULE_FAMILIES.flatMap((family) =>
  Object.entries(family.rules),
);

const UNKNOWN_MAILBOX_REPLIES = [
  "550 Recipient bob@x.com not recognized here",
  "550 no mailbox found for bob",
  "550 Addressee not known at this site",
  "550 User account is unavailable",
  "550 Destination address is invalid",
  "550 Wrong recipient address",
  "550 Invalid mailbox path",
  "550 That user is not here",
  "550 Account does not exist",
  "550 we could not find your recipient's mailbox",
  "550 We do not have a user by that name",
  "550 No one by that name here",
  "550 bob@x.com: unknown",
  "550 Address unknown.",
  "550 RCPT address has non-existant domain",
  '550 unrouteable mail domain "x.com"',
  "550 all relevant MX records point to non-existent hosts",
  "550 Unknown domain",
  "550 account disabled",
  "550 account expired",
  "550 bob no longer works here",
  "550 this email address is no longer valid",
  "550 This address no longer accepts mail",
  "550 the account has been cancelled",
  "550 User is inactive",
  "550 Mailbox is locked",
  "550 Unrouteable address",
  "550 No such person at this address",
  "550 No such local user",
  "550 <bob@example.com> does not exist",
  "550 Mailbox Not Found",
  "550 bob (bob@example.com) not listed in Domino Directory",
  "550 User bob@example.com not listed in public Name & Address Book",
  "554 delivery error: dd This user doesn't have a yahoo.com account (bob@yahoo.com) [0] - mta1.mail.bf1.yahoo.com",
  "554 delivery error: dd Not a valid recipient - mta1.mail.yahoo.com",
  "550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).",
  "550 sorry, no user here by that name",
  "550 No mailbox by that name is currently available",
  "550 Cannot find user bob",
  "550 Unable to find recipient",
  "550 That email address is not recognised",
  "550 Mail to nonexistent user",
  "550 Sorry, unknown account",
  "550 Not a known user",
  "550 Unknown address",
  "550 Das Postfach existiert nicht",
  "550 Benutzer wurde nicht gefunden",
  "550 L'adresse n'existe pas",
  "550 Destinataire introuvable",
  "550 Buzón desconocido",
  "550 Utente sconosciuto",
  "550 L'indirizzo non esiste",
  "550 Usuário não existe",
  "550 Destinatário inválido",
  "550 Usuario inexistente",
  "550 Polzovatel ne nayden",
  "550 Пользователь не найден",
  "550 Atesaki fumei",
  "550 メールアドレスが存在しません",
  "550 用户不存在",
];

test.each(UNKNOWN_MAILBOX_REPLIES)("classify finds the mailbox invalid: %s", (line) => {
  expect(at(line).verdict).toBe("invalid");
});

test.each([
  "550 This mailbox is no longer in use",
  "550 User bob@example.com has been deactivated",
  "550 Account closed",
  "550 User suspended",
  "550 5.1.1 <bob@rambler.ru>: Recipient address rejected: Account blocked due to inactivity",
  "550 Recipient's account has been terminated",
  "550 Dieses Postfach wurde gesperrt",
  "550 La cuenta ha sido suspendida",
  "550 Casella disattivata",
  "550 Conta desativada",
])("classify finds the mailbox disabled: %s", (line) => {
  expect(at(line)).toMatchObject({ verdict: "invalid", reason: "mailbox_disabled" });
});

test.each([
  "550 Mailbox has exceeded the limit",
  "550 Mail quota exceeded",
  "552 Boîte du destinataire pleine",
  "552 El buzón está lleno",
  "552 La casella è piena",
  "552 Caixa postal cheia",
  "550 Account is over its storage limit",
])("classify finds the mailbox full: %s", (line) => {
  expect(at(line)).toMatchObject({ verdict: "risky", reason: "mailbox_full" });
});

const REPLIES_WITHOUT_MAILBOX = [
  "550 5.4.5 Daily SMTP relay sending limit exceeded for user.",
  "534 5.7.9 Please log in with your web browser",
  "550 5.7.1 The user or domain that you are sending to (or from) has a policy that prohibited the mail that you sent.",
  "501 5.5.2 Cannot Decode response",
  "502 5.5.1 Too many unrecognized commands, goodbye.",
  "550 Message rejected because of unacceptable content",
  "550 Recipient refuses mail from unknown users",
  "550 You are not a known user of this list",
  "550 Only registered users may send, user not registered",
  "550 The certificate of user is unknown",
  "550 5.7.60 SMTP; Client does not have permissions to send as this sender",
  "554 From address not found in DNS",
  "550 Address of sending host is invalid",
  "550 the address you're sending from does not exist",
  "550 Account used for sending is inactive",
  "550 Reply-To address invalid",
  "550 Return address unknown",
  "550 Bounce address does not exist",
  "553 you are trying to use me [server-12] as a relay, but I have not been configured to let you [198.51.100.7, x] do this",
  "550 5.7.1 Command rejected: unknown user in DATA",
  "550 This list is closed to non-members; unknown address",
  "550 5.7.1 bob only accepts mail from senders in his address book; your address was not found",
  "550 Recipient verification failed",
  "550 Callout verification failed",
  "550 user lookup failure",
  "550 Port disabled for user",
  "550 Mailbox locked by another process",
  "550 5.7.1 TRANSPORT.RULES.RejectMessage; the message was rejected by organization policy",
  "550 5.7.1 Message rejected: unknown reason",
  "550 recipient domain not in our list",
  "550 unknown error",
  "550 Invalid message: recipient unknown encoding",
  "550 5.3.5 system config error: local host unknown",
  "550 Domain example.org does not exist (in MAIL FROM)",
  "550 Host unknown: cannot resolve client",
  "550 Access denied - Invalid HELO name (See RFC2821 4.1.1.1)",
  "550 recipient does not want mail from you",
  "503 need RCPT (recipient)",
  "550 The domain does not accept mail from you",
  "550 Message for bob rejected: user not found in whitelist",
  "550 Recipient is not on the allow list",
  "550 5.2.0 storage driver; recipient quota policy unknown error",
  "550 5.2.1 Mailbox unavailable. Your IP address 198.51.100.7 is blacklisted using bl.example.org",
  "550 5.1.0 <probe@example.org>: Sender address rejected: User unknown in virtual mailbox table",
  "550 Sender verify failed: account not found",
  "550 Invalid sender address",
  "550 Your account has been disabled",
  "550 5.2.1 Your mailbox has been suspended",
  "550 Your domain does not exist",
  "550 5.7.1 Your email address is invalid",
  "550 mail from user unknown is not allowed",
  "550 HELO host name invalid",
  "550 5.7.1 reverse DNS not found for host",
  "550 No SPF record found; address not found",
  "550 DKIM key not found",
  "554 5.7.1 <bob@example.com>: Recipient address rejected: Access denied",
  "550 5.7.1 Recipient address rejected: Policy rejection, please see http://postmaster.example/unknown-user",
  "550 5.5.3 Too many unknown users, closing",
  "535 5.7.8 Invalid user name or password",
  "550 SMTP AUTH is disabled for this account",
  "550 5.2.1 content filter agent quarantined this message",
  "550 5.2.2 Submission quota exceeded",
  "550 account has exceeded its hourly sending limit",
  "550 Message size exceeds mailbox limit",
  "550-Requested action not taken: mailbox unavailable\n550-Reject due to policy restrictions.\n550 For explanation visit https://postmaster.gmx.net/en/case?c=r0601",
  "550-Requested action not taken: mailbox unavailable\n550 invalid DNS PTR resource record",
  "550 Mailbox temporarily unavailable, try again later",
  "550-5.7.1 We're writing to let you know that the group you tried to contact (sales) may\n550-5.7.1 not exist, or you may not have permission to post messages to it.\n550 5.7.1 - gsmtp",
  "550 5.7.1 RESOLVER.RST.AuthRequired; authentication required",
  "550 Sender not found in recipient's whitelist",
  "550 5.7.1 This message has an invalid header",
  "550 Spam message rejected",
  "550 permanent failure for one or more recipients (bob@example.com:blocked)",
  "550 Suspected bounce attacks",
  "554 DT:SPM mx12",
  "550 Connection denied",
  "550 5.4.6 Routing loop detected; user unknown at next hop",
  "550 delivery to recipient failed: remote host closed connection",
  "554 Transaction failed",
  "550 Rejected",
  "550 Requested action aborted [7.2] 23602",
  "550 5.5.4 invalid domain name",
  "500 5.5.2 Error: bad syntax",
  "502 VRFY disabled",
  "550 inbounds disabled",
  "550 5.7.1 Absenderadresse unbekannt",
  "550 Adresse de l'expéditeur inconnue",
  "550 El remitente no existe",
  "550 Mittente sconosciuto",
  "550 Remetente inexistente",
  "550 Адрес отправителя не существует",
  "550 5.7.700 Access denied, tenant has exceeded threshold",
  "550 Blocked",
  "524 Go away",
  "524 5.2.4 Not a member of the list",
];

test.each(REPLIES_WITHOUT_MAILBOX)("classify finds nothing about the mailbox: %s", (line) => {
  expect(at(line).verdict).toBe("unknown");
});

test("classify never returns invalid for a temporary reply, even with the words of a missing mailbox", () => {
  const temporary = UNKNOWN_MAILBOX_REPLIES.map((line) =>
    line.replaceAll(/(?<![\d.])5(\d\d)(?=[ -])/g, "4$1").replaceAll(/\b5\.(\d+\.\d+)/g, "4.$1"),
  );

  expect(temporary.map((line) => at(line).verdict)).not.toContain("invalid");
});

test.each(["greeting", "ehlo", "starttls", "mail"] as const)(
  "classify finds nothing about a mailbox in a refusal at %s, before the recipient is named",
  (stage) => {
    const verdicts = UNKNOWN_MAILBOX_REPLIES.map((line) => at(line, stage).verdict);

    expect(new Set(verdicts)).toEqual(new Set(["unknown"]));
  },
);

test("classify does not read a full disk at MAIL as a full mailbox", () => {
  expect(at("552 Mailbox full", "mail").verdict).toBe("unknown");
});

test.each(asRows`
  521 at the greeting is a host that takes no mail | 521 No mail here | greeting | invalid
  521 that names our address at the greeting refuses us | 521 Your IP is blacklisted | greeting | unknown
  any other 2xx at RCPT is an accepted mailbox | 253 Ok, 3 pending | rcpt | valid
  another 5xx at the greeting refuses us | 554 No SMTP service here | greeting | unknown
  250 at RCPT is an accepted mailbox | 250 2.1.5 Ok | rcpt | valid
  251 forwards, so it is accepted too | 251 User not local; will forward | rcpt | valid
  252 promises nothing | 252 2.0.0 Cannot VRFY user | rcpt | unknown
  250 at MAIL says nothing of the mailbox | 250 2.1.0 Ok | mail | unknown
  a code outside RFC 5321 says nothing | 999 user unknown | rcpt | unknown
`)("classify returns the verdict of a reply: %s", (_, line, stage, verdict) => {
  expect(at(line, stage).verdict).toBe(verdict);
});

test.each([
  ["d1.ess.barracudanetworks.com", "invalid"],
  ["de-smtp-inbound-1.mimecast.com", "invalid"],
  ["mx1-eu1.ppe-hosted.com", "invalid"],
  ["example-com.mail.protection.outlook.com", "invalid"],
  ["EXAMPLE-COM.MAIL.PROTECTION.OUTLOOK.COM.", "invalid"],
  ["example-com.a-v1.mx.microsoft", "invalid"],
  ["mx.example.com", "unknown"],
  ["protection.outlook.com.example.com", "unknown"],
  ["notprotection.outlook.com", "unknown"],
  [undefined, "unknown"],
])("classify reads access denied under 5.4.1 from %s as %s", (mxHost, verdict) => {
  const reply = "550 5.4.1 Recipient address rejected: Access denied";

  expect(at(reply, "rcpt", mxHost).verdict).toBe(verdict);
});

test.each([
  "550 5.1.1 <spam@blacklist.example>: User unknown",
  "550 5.1.1 <over.quota@full-mailbox.example>: User unknown",
  '550 5.1.1 <"spam trap"@example.com>: User unknown',
  "550 spam@example.com: User unknown",
  "550 User unknown, see https://example.com/blocked/spam?your-ip=1",
  "550 5.1.1 rate... User unknown",
  "550 No such user at banned.spam.example.com",
  "550 User unknown, successfully said by corporate mail",
])("classify ignores words inside other words, addresses, host names and URLs: %s", (line) => {
  expect(at(line)).toMatchObject({ verdict: "invalid", reason: "mailbox_not_found" });
});

test("classify recognizes a blocklist by its URL alone", () => {
  expect(at("553 https://www.spamhaus.org/query/ip/198.51.100.7")).toMatchObject({
    reason: "ip_blocked",
    aboutUs: true,
  });
});

test.each([
  ["450 4.2.0 <bob@example.com>: Recipient address rejected: Greylisted", "greylisted", "later"],
  ["452 4.5.3 Too many recipients", "too_many_recipients", "new_connection"],
  ["550 5.5.3 Too many recipients", "too_many_recipients", "new_connection"],
  ["451 Something else", "greylisted", "later"],
  ["450 4.9.9 Something else", "server_error", "other_host"],
  ["550 5.1.1 User unknown", "mailbox_not_found", null],
  ["550 Mailbox full", "mailbox_full", null],
] as const)("classify reads %s as %s, with the retry %s", (line, reason, retry) => {
  expect(at(line)).toMatchObject({ reason, retry });
});

test.each(asRows`
  421 4.7.0 IP not in whitelist for RCPT domain, closing connection. a1.2 - gsmtp | true
  421 4.7.0 TLS required for RCPT domain, closing connection. a1.2 - gsmtp | true
  421 4.1.1 <bob@example.com>: Recipient address rejected: Address verification in progress | true
  421 4.7.28 Our system has detected an unusual rate of mail from your IP address | false
  421 4.7.0 IP not in whitelist, closing connection. | false
  421 4.7.0 Must issue a STARTTLS command first | false
  421 4.1.1 Too many invalid recipients, goodbye | false
  421 4.1.8 Sender domain does not resolve | false
  421 4.1.1 198.51.100.7 is refused | false
`)("the reply %s concerns one domain: %s", (line, expected) => {
  expect(concernsOneDomain(parseReply(line), { stage: "rcpt" })).toBe(expected);
});

test("a refusal for one domain does not count as a refusal of us", () => {
  expect(at("421 4.7.0 IP not in whitelist for RCPT domain, closing connection.")).toMatchObject({
    verdict: "unknown",
    reason: "recipient_restricted",
    aboutUs: false,
  });
});

test.each(asRows<[Stage, string, RefusalOfUs | null]>`
  greeting | 554 5.7.0 Blocked - see support.proofpoint.com | block
  greeting | 554 5.7.0 Blocked - see https://ipcheck.proofpoint.com/?ip=198.51.100.7 | block
  greeting | 521 198.51.100.7 is blocked | block
  greeting | 554 No SMTP service here | block
  greeting | 421 4.7.1 198.51.100.7 is blocked, see our block list | throttle
  mail | 550 5.7.1 Part of their network is on our block list (S3150) | block
  mail | 550 5.1.8 Sender domain does not exist | block
  mail | 530 5.7.0 Must issue a STARTTLS command first | block
  rcpt | 550 5.7.1 Part of their network is on our block list (S3150) | block
  rcpt | 550 SC-002 Mail rejected for policy reasons: it has exhibited namespace mining behavior | block
  rcpt | 554 IB111 This IP has been blocked | block
  // These say nothing of us, or may be one mailbox's own choice.
  greeting | 521 mx.example.com does not accept mail | null
  greeting | 450 4.7.1 Client host blocked using zen.spamhaus.org | throttle
  greeting | 421 4.7.0 Too many connections from your IP | throttle
  greeting | 421 4.7.0 Mail from your IP address has been temporarily blocked | throttle
  mail | 451 4.7.500 Server busy | throttle
  mail | 550 5.3.0 Internal server error | null
  mail | 550 5.7.1 Too many messages, slow down | null
  rcpt | 250 OK | null
  rcpt | 550 5.1.1 User unknown | null
  rcpt | 550 5.7.1 Only registered users may post to this list | null
  rcpt | 530 5.7.1 Authentication required | null
  rcpt | 450 4.7.1 Your IP is greylisted | null
  rcpt | 552 5.2.2 Mailbox full | null
  greeting | 421 4.3.2 All server ports are busy | null
  mail | 421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1 | throttle
  rcpt | 421-4.7.28 Gmail has detected an unusual rate of mail originating from your IP address. Mail sent from it has been temporarily rate limited
    | throttle
  rcpt | 451 4.7.500 Server busy. Please try again later from [192.0.2.1] | throttle
  rcpt | 451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation | throttle
  rcpt | 451 4.7.550 Access denied, please try again later | throttle
  rcpt | 421 4.7.1 Too many connections from 192.0.2.1 | throttle
  rcpt | 450 4.7.25 Client host rejected: cannot find your reverse hostname, [192.0.2.1] | throttle
  rcpt | 450 4.1.8 Sender address rejected: Domain not found | null
  rcpt | 451 4.4.1 Connection to the inner host [10.0.0.5] temporarily failed | null
  rcpt | 421 4.7.0 IP not in whitelist for RCPT domain, closing connection | null
`)("the refusal of us at %s in %j is: %s", (stage, line, expected) => {
  expect(findRefusalOfUs(parseReply(line), { stage, mxHost: "mx.example.com" })).toBe(expected);
});

test.each(["550 Unknown domain, we do not relay"])(
  "words about relaying outrank the code: %j",
  (line) => {
    expect(at(line)).toMatchObject({ verdict: "unknown", reason: "relay_denied" });
  },
);

test("the code of relaying with words about the mailbox concerns the mailbox", () => {
  expect(at("550 5.1.2 Mailbox does not exist.")).toMatchObject({ reason: "mailbox_not_found" });
});

test("a reply code about security or policy proves no missing mailbox, even beside words about one", () => {
  const codes = [
    2, 3, 5, 12, 14, 26, 57, 64, 128, 320, 321, 322, 323, 324, 325, 509, 606, 708, 750,
  ];
  const words = [
    "dnssec-invalid: destination domain returned invalid dnssec records",
    "starttls-not-supported: destination mail server must support TLS",
    "Recipient address rejected: user unknown",
    "This mailbox is disabled",
    "Host unknown",
  ];
  const verdicts = codes.flatMap((code) =>
    words.map((text) => at(`550 5.7.${code} ${text}`).verdict),
  );

  expect(new Set(verdicts)).not.toContain("invalid");
  expect(at("525 5.7.13 User account is disabled").verdict).toBe("invalid");
  expect(at("550 5.7.1 No such user!").verdict).toBe("invalid");
});

test("greylisting that names our address counts as greylisting, not as a throttle", () => {
  const finding = at("450 4.7.1 Client host [198.51.100.7] is greylisted, try again later");

  expect(finding).toMatchObject({ reason: "greylisted", aboutUs: false });
});

test("a recipient that spamd accepts proves nothing about the real server", () => {
  expect(at("250 This is hurting you more than it is hurting me.")).toMatchObject({
    verdict: "unknown",
    reason: "greylisted",
    retry: "later",
  });
});

test("a refusal of us at the greeting causes a try at another host", () => {
  expect(at("554 5.3.2 Not today", "greeting")).toMatchObject({
    reason: "server_refuses",
    retry: "other_host",
  });
});

test("classify reads the last line of a very long reply", () => {
  const long = `550-${"welcome to our mail service\n550-".repeat(2_500)}\n550 5.1.1 User unknown`;

  expect(at(long).reason).toBe("mailbox_not_found");
});

test.each(RULES)(
  "the example of the rule %s matches the rule itself, so that every rule is reachable",
  (id, rule) => {
    expect(at(rule.example, "rcpt", rule.fromHost).rule).toBe(id);
  },
);

test("no two rules share an id", () => {
  const ids = RULES.map(([id]) => id);

  expect(ids).toEqual([...new Set(ids)]);
});

test.each(RULES)(
  "the rule %s contains no quantifier inside a quantified group, so that no text is slow",
  (_, rule) => {
    const sources = [rule.text, rule.unless].map((pattern) => pattern?.source ?? "");

    for (const source of sources) expect(source).not.toMatch(UNBOUNDED_IN_REPEATED);
  },
);

/** A group with + or * inside, which is itself repeated without a bound. */
const UNBOUNDED_IN_REPEATED = /\([^()]*[+*][^()]*\)(?:[+*]|\{\d+,\})/;

test("classify returns the same finding for a reply in other case or with other line breaks", () => {
  const reply: Reply = { code: 550, enhanced: null, text: "No such\nUSER   here" };

  expect(classify(reply, { stage: "rcpt" })).toEqual(at("550 no such user here"));
});

describe("words of one provider", () => {
  const at = (line: string, mxHost?: string): Finding =>
    classify(
      parseReply(line),
      mxHost === undefined ? { stage: "rcpt" } : { stage: "rcpt", mxHost },
    );

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
  another provider with QQ's spelling | 550 Mailbox unavailable or access denined | ${{ verdict: "unknown" }} | mx.example.com
  QQ, misspelled | 550 Mailbox unavailable or access denined | ${{ verdict: "risky", reason: "mailbox_rate_limited" }} | mx3.qq.com
  Yandex, account blocked | 550 5.7.1 Policy rejection on the target address | ${{ verdict: "invalid", reason: "mailbox_disabled" }} | mx.yandex.ru
  another provider with Yandex's words | 550 5.7.1 Policy rejection on the target address | ${{ verdict: "unknown" }} | mx.example.com
  GMX and web.de, unknown | ${"550-Requested action not taken: mailbox unavailable\n550 For explanation visit https://postmaster.gmx.net/en/case?c=r0103"}
    | ${{ verdict: "invalid", reason: "mailbox_not_found" }}
  GMX and web.de, policy
    | ${"550-Requested action not taken: mailbox unavailable\n550-Reject due to policy restrictions.\n550 For explanation visit https://postmaster.gmx.net/en/case?c=r0601"}
    | ${{ verdict: "unknown" }}
  Mimecast with federated accounts | 451 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#451 [abc.uk1]
    | ${{ verdict: "risky", reason: "mailbox_not_found_transient", retry: "later" }} | us-smtp-inbound-2.mimecast.com
  another provider with Mimecast's words | 451 Invalid Recipient | ${{ verdict: "unknown", reason: "mailbox_not_found_transient", retry: "later" }}
  ZEROSPAM | 550 5.1.1 Not in recipient list | ${{ verdict: "invalid", reason: "mailbox_not_found" }}
  Rambler, blocked | 540 5.7.1 <bob@rambler.ru>: Recipient address rejected: Blocked | ${{ verdict: "invalid", reason: "mailbox_disabled" }}
  docomo | 552 Too much mail data | ${{ verdict: "risky", reason: "mailbox_full" }}
  i.ua, unknown | 550 http://mail.i.ua/err/2/ | ${{ verdict: "invalid" }}
  i.ua, unused | 550 http://mail.i.ua/err/3/ | ${{ verdict: "invalid", reason: "mailbox_disabled" }}
  i.ua, another page | 550 http://mail.i.ua/err/24/ | ${{ verdict: "unknown" }}
  Outlook, a sender without authentication | 550 5.7.515 Access denied, the sending domain does not meet the required level | ${{ verdict: "unknown", reason: "sender_auth_failed", aboutUs: true }}
  RFC 7293, another owner | 550 5.7.17 Mailbox owner has changed | ${{ verdict: "risky", reason: "mailbox_owner_changed" }}
  AT&T | 521 5.0.0 198.51.100.7 is blocked. For assistance forward this email to abuse_rbl@abuse-att.net
    | ${{ verdict: "unknown", reason: "ip_blocked", aboutUs: true }}
`)(
    "classify returns the verdict of a provider's reply: %s",
    (_provider, line, expected, mxHost) => {
      expect(at(line, mxHost)).toMatchObject(expected);
    },
  );

  test.each(["521 <198.51.100.7> is blocked", "521 5.7.1 Blocked"])(
    "classify does not read a block at the greeting as a host without mail: %s",
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
    "550 Reverse-path rejected: unknown",
    "550 Return address unknown",
    "550 Originating address does not exist",
    "550 Sending address rejected, unknown user",
    "550 From: user unknown",
    "550 User unknown at the sender's host",
  ])("classify relates words for an unknown mailbox to our sender: %s", (line) => {
    expect(at(line)).toMatchObject({ verdict: "unknown", aboutUs: true });
  });

  test.each([
    "550 5.1.1 Blocked",
    "550 5.1.1 Message refused by greylisting",
    "550 5.1.1 This client is blocked",
    "550 5.1.1 Rejected for policy reasons",
    "550 User unknown; client blocked by the administrator",
  ])("classify treats 5.1.1 beside words that block as no proof: %s", (line) => {
    expect(at(line).verdict).toBe("unknown");
  });

  describe("a quoted reply", () => {
    // A gateway asks the server behind it and passes its refusal on. As they are read off the wire.

    const read = (lines: string): Reply => {
      const reply = createReplyReader()(Buffer.from(`${lines.replaceAll("\n", "\r\n")}\r\n`)).at(
        -1,
      );
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
`)("classify returns the verdict of a quoting reply: %s", (_name, lines, expected) => {
      expect(at(lines)).toMatchObject(expected);
    });

    test.each([
      "550 5.1.0 <probe@example.org>: Sender address rejected: undeliverable address: host mx.example.org[192.0.2.5] said: 550 5.1.1 User unknown (in reply to RCPT TO command)",
      "550-Verification failed for <probe@example.org>\n550-Called:   192.0.2.5\n550-Sent:     RCPT TO:<probe@example.org>\n550-Response: 550 5.1.1 User unknown\n550 Sender verify failed",
      "550-Callback setup failed while verifying <probe@example.org>\n550-Called:   192.0.2.5\n550-Sent:     MAIL FROM:<>\n550-Response: 550 No such user\n550 Sender verify failed",
    ])("a server that asked about our sender quotes a reply about our sender: %s", (lines) => {
      expect(at(lines)).toMatchObject({
        verdict: "unknown",
        reason: "sender_rejected",
        aboutUs: true,
      });
    });

    test("a backoff that another server asked of the gateway does not apply to us", () => {
      const harvest = "550 5.1.1 Address harvesting is not welcome";

      expect(asksForBackoff(read(harvest), { stage: "rcpt" })).toBe(true);
      expect(asksForBackoff(read(`550 5.1.1 ${UNDELIVERABLE} ${harvest}`), { stage: "rcpt" })).toBe(
        false,
      );
    });
  });
});
