import { expectExisting, expectRefusal } from "./lists.ts";
import { always, type Receiver } from "./receiver.ts";

const YAHOO = ["mta5.am0.yahoodns.net", "mta6.am0.yahoodns.net"];

export const yahoo: Receiver = {
  id: "yahoo",
  title: "Yahoo, AOL, Sky, and since 2025 AT&T",
  sources: [
    "SMTP error codes: https://senders.yahooinc.com/smtp-error-codes/ (2025-04)",
    "250 at RCPT, 554 after DATA for an account that does not exist: AfterShip/email-verifier#57 (2026-11)",
    "AT&T's domains have Yahoo's hosts: https://bentonow.com/smtp-errors/yahoo (2025-06)",
    "[TSS04] as senders meet it: https://smtpfieldmanual.com/provider/yahoo/421/4.7.0 (2026-11)",
    "4xx: who resends by hand waits four hours: https://help.yahoo.com/kb/review-xx-smtp-sln26151.html (2026-11)",
    "20 messages per connection: https://help.yahoo.com/kb/SLN3433.html (2026-11)",
  ],
  hosts: YAHOO,
  greeting: "220 mtaproxy501.mail.bf1.yahoo.com ESMTP ready",
  extensions: ["PIPELINING", "SIZE 41943040", "8BITMIME"],
  mailboxes: always("250 recipient <{address}> ok"),
  limits: {
    transactionsPerSession: {
      most: 20,
      reply: "421 Max message per connection reached, closing transmission channel",
    },
  },
  blocks: [
    {
      name: "deferred",
      stage: "mail",
      reply:
        "421 4.7.0 [TSS04] Messages from {client} temporarily deferred due to unexpected volume or user complaints - 4.16.55.1; see https://postmaster.yahooinc.com/error-codes",
    },
    {
      name: "many unknown recipients",
      stage: "rcpt",
      reply:
        "451 VS1-IP Excessive unknown recipients - possible Open Relay http://help.yahoo.com/help/us/mail/spam/spam-18.html (#4.1.8)",
    },
  ],
  domains: [
    { name: "yahoo.com" },
    { name: "aol.com", hosts: ["mx-aol.mail.gm0.yahoodns.net"] },
    { name: "sky.com", hosts: ["mx-sky.mail.am0.yahoodns.net"] },
    { name: "att.net", hosts: ["mx-att.mail.am0.yahoodns.net"] },
  ],
  scenarios: [
    {
      shows: "every recipient is accepted, so that 250 proves nothing",
      results: ["yahoo.com", "aol.com", "sky.com", "att.net"].flatMap((domain) => [
        [`ada.lovelace@${domain}`, "risky accept_then_bounce"] as const,
        [`unknown.person@${domain}`, "risky accept_then_bounce"] as const,
      ]),
    },
    {
      shows: "300 addresses behind a throttle",
      isBlocked: "deferred",
      results: expectExisting(300, "yahoo.com", "unknown rate_limited"),
    },
    {
      shows: "300 addresses of a client that asked about too many that do not exist",
      isBlocked: "many unknown recipients",
      results: expectExisting(300, "aol.com", "unknown directory_harvest"),
    },
    {
      shows: "a list of 100",
      results: expectExisting(100, "yahoo.com", "risky accept_then_bounce"),
      atMost: { overLimit: 0 },
    },
  ],
};

export const icloud: Receiver = {
  id: "icloud",
  title: "iCloud Mail",
  sources: [
    "554 5.7.0 at the greeting, by Proofpoint's list: reacherhq/check-if-email-exists#1468, truemail-rb/truemail#298 (2025-02)",
    "replies about mailboxes: sisimai/set-of-emails, rhost-apple (2026-11)",
  ],
  hosts: ["mx01.mail.icloud.com", "mx02.mail.icloud.com"],
  greeting: "220 p00-icloudmta-asmtp-us-east-2a ESMTP ready",
  extensions: ["PIPELINING", "SIZE 28311552", "ENHANCEDSTATUSCODES", "8BITMIME", "SMTPUTF8"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown: "550 5.1.1 <{address}>: unknown or illegal alias: {address}",
    full: "552 5.2.2 <{address}>: user is over quota",
    disabled: "550 5.1.1 <{address}>: inactive email address",
  },
  blocks: [
    {
      stage: "greeting",
      reply: "554 5.7.0 Blocked - see https://support.proofpoint.com/dnsbl-lookup.cgi?ip={client}",
    },
  ],
  domains: [{ name: "icloud.com" }, { name: "me.com" }, { name: "family.icloud.example.com" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("icloud.com"),
        ...expectRefusal("family.icloud.example.com"),
        ["full.mailbox@me.com", "risky mailbox_full"],
        ["disabled.person@icloud.com", "invalid mailbox_disabled"],
      ],
    },
    {
      shows: "a client that Proofpoint lists: the greeting is the refusal",
      isBlocked: true,
      results: expectExisting(300, "icloud.com", "unknown ip_blocked"),
    },
  ],
};

export const fastmail: Receiver = {
  id: "fastmail",
  title: "Fastmail",
  sources: ["replies about mailboxes in published logs: github.com, logs of Postfix (2026-11)"],
  notes: "The lab chose Postfix's words.",
  hosts: ["in1-smtp.messagingengine.com", "in2-smtp.messagingengine.com"],
  extensions: ["PIPELINING", "SIZE 71000000", "ENHANCEDSTATUSCODES", "8BITMIME", "SMTPUTF8"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown: "550 5.1.1 <{address}>: Recipient address rejected: User unknown",
    disabled:
      "450 4.2.1 <{address}>: Recipient address rejected: this mailbox is inactive and has been disabled",
  },
  domains: [{ name: "fastmail.com" }, { name: "customer.fastmail.example.com" }],
  scenarios: [
    {
      shows: "mailboxes; a 4xx never makes an address invalid",
      results: [
        ...expectRefusal("fastmail.com"),
        ...expectRefusal("customer.fastmail.example.com"),
        ["disabled.person@fastmail.com", "unknown server_error"],
      ],
    },
  ],
};

export const proton: Receiver = {
  id: "proton",
  title: "Proton Mail",
  sources: [
    "replies about mailboxes in published logs: github.com, logs of Postfix (2026-11)",
    "SMTP errors: https://proton.me/support/smtp-errors (2026-11)",
  ],
  hosts: ["mail.protonmail.ch", "mailsec.protonmail.ch"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown: "550 5.1.1 <{address}>: Recipient address rejected: Address does not exist",
  },
  domains: [{ name: "proton.me" }, { name: "protonmail.com" }],
  scenarios: [{ shows: "mailboxes", results: expectRefusal("proton.me") }],
};
