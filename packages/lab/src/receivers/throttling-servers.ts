import { expectExisting, expectRefusal, expectUnknown } from "./lists.ts";
import { always, type Receiver } from "./receiver.ts";

// Server software and forwarders that throttle, delay or defer a client before they reply about a mailbox.

export const cloudflare: Receiver = {
  id: "cloudflare",
  title: "Cloudflare Email Routing",
  sources: [
    "what Email Routing asks of senders: https://developers.cloudflare.com/email-routing/postmaster/ (2026-11)",
    "421 4.3.0 Upstream error as senders meet it: https://community.cloudflare.com/t/email-routing-421-4-3-0-upstream-error-to-sender-but-email-delivered/745734 (2024-12)",
  ],
  notes:
    "It asks the system behind it during the session. The lab chose the words of its throttle.",
  hosts: ["route1.mx.cloudflare.net", "route2.mx.cloudflare.net", "route3.mx.cloudflare.net"],
  greeting: "220 {host} Cloudflare Email ESMTP Service ready",
  extensions: ["PIPELINING", "8BITMIME", "ENHANCEDSTATUSCODES", "SMTPUTF8", "SIZE 26214400"],
  mailboxes: {
    existing: "250 2.1.5 OK",
    unknown: "550 5.1.1 Address does not exist.",
  },
  blocks: [
    {
      name: "rate limited",
      stage: "greeting",
      reply: "421 4.7.1 Rate limit exceeded for {client}, try again later",
    },
  ],
  domains: [
    { name: "routed.cloudflare.example.com" },
    {
      name: "upstream.cloudflare.example.com",
      setting: "the system behind it does not answer",
      mailboxes: always(
        "421 4.3.0 Upstream error, please check https://developers.cloudflare.com/email-routing/postmaster for possible reasons why.",
      ),
    },
  ],
  scenarios: [
    { shows: "mailboxes", results: expectRefusal("routed.cloudflare.example.com") },
    {
      shows: "an upstream error, which is not a throttle",
      results: [["ada.lovelace@upstream.cloudflare.example.com", "unknown server_error"]],
    },
    {
      shows: "300 addresses behind a throttle",
      isBlocked: "rate limited",
      results: expectExisting(300, "routed.cloudflare.example.com", "unknown rate_limited"),
    },
  ],
};

export const stalwart: Receiver = {
  id: "stalwart",
  title: "Stalwart",
  sources: [
    "replies to RCPT, in crates/smtp/src/inbound/rcpt.rs: https://github.com/stalwartlabs/stalwart (2026-11)",
  ],
  notes:
    "A domain that it does not know gets a reply about relaying under the code of a bad destination system.",
  hosts: ["mx.stalwart.example.com"],
  greeting: "220 {host} Stalwart ESMTP at your service",
  extensions: ["PIPELINING", "8BITMIME", "ENHANCEDSTATUSCODES", "SMTPUTF8", "SIZE 104857600"],
  mailboxes: {
    existing: "250 2.1.5 OK",
    unknown: "550 5.1.2 Mailbox does not exist.",
  },
  blocks: [
    {
      name: "rate limited",
      stage: "rcpt",
      reply: "452 4.4.5 Rate limit exceeded, try again later.",
    },
  ],
  domains: [
    { name: "own.stalwart.example.com" },
    {
      name: "alias.stalwart.example.com",
      setting: "an alias domain that the server does not have",
      mailboxes: always("550 5.1.2 Relay not allowed."),
    },
    {
      name: "unverified.stalwart.example.com",
      setting: "the directory does not answer",
      mailboxes: always("451 4.4.3 Unable to verify address at this time."),
    },
  ],
  scenarios: [
    {
      shows: "mailboxes, an alias domain, and a directory that is down",
      results: [
        ...expectRefusal("own.stalwart.example.com"),
        ["ada.lovelace@alias.stalwart.example.com", "unknown relay_denied"],
        ["ada.lovelace@unverified.stalwart.example.com", "unknown server_error"],
      ],
    },
    {
      shows: "300 addresses behind a throttle",
      isBlocked: "rate limited",
      results: expectExisting(300, "own.stalwart.example.com", "unknown rate_limited"),
    },
  ],
};

export const postscreen: Receiver = {
  id: "postscreen",
  title: "Postfix behind postscreen",
  sources: [
    "tests before and after the 220 greeting: https://www.postfix.org/POSTSCREEN_README.html (2026-11)",
    "its replies, in src/postscreen: https://github.com/vdukhovni/postfix (2026-11)",
  ],
  notes: "It waits six seconds before the greeting.",
  hosts: ["mx.postscreen.example.com"],
  extensions: ["PIPELINING", "SIZE 10240000", "ETRN", "ENHANCEDSTATUSCODES", "8BITMIME", "DSN"],
  greetingSeconds: 6,
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown:
      "550 5.1.1 <{address}>: Recipient address rejected: User unknown in local recipient table",
  },
  blocks: [
    {
      name: "tested for the first time",
      stage: "rcpt",
      reply: "450 4.3.2 Service currently unavailable",
    },
    {
      name: "too many connections",
      stage: "greeting",
      reply: "421 4.7.0 {host} Error: too many connections from {client}",
    },
    {
      name: "on a blocklist",
      stage: "rcpt",
      reply:
        "550 5.7.1 Service unavailable; client [{client}] blocked using zen.spamhaus.org; from=<probe@probe.example>, to=<{address}>, proto=ESMTP, helo=<probe.example>",
    },
  ],
  domains: [{ name: "screened.postscreen.example.com" }],
  scenarios: [
    { shows: "mailboxes", results: expectRefusal("screened.postscreen.example.com") },
    {
      shows: "the first session of a client, which is not a throttle",
      isBlocked: "tested for the first time",
      results: expectExisting(10, "screened.postscreen.example.com", "unknown server_error"),
    },
    {
      shows: "300 addresses behind a throttle",
      isBlocked: "too many connections",
      results: expectExisting(300, "screened.postscreen.example.com", "unknown rate_limited"),
    },
    {
      shows: "300 addresses for a client on a blocklist",
      isBlocked: "on a blocklist",
      results: expectExisting(300, "screened.postscreen.example.com", "unknown ip_blocked"),
    },
  ],
};

export const spamd: Receiver = {
  id: "spamd",
  title: "OpenBSD's spamd",
  sources: [
    "spamd(8): https://man.openbsd.org/spamd (2026-11)",
    "three types of hosts: https://why.openbsd.rocks/fact/spamd (2026-11)",
  ],
  notes: "It sends a character a second, and refuses only after the message.",
  hosts: ["mx.spamd.example.com"],
  greeting: "220 {host} ESMTP spamd IP-based SPAM blocker; Sun Nov 22 12:00:00 2026",
  extensions: [],
  greetingSeconds: 8,
  recipientSeconds: 30,
  offersTls: false,
  mailboxes: always("250 This is hurting you more than it is hurting me."),
  domains: [{ name: "stuttering.spamd.example.com" }],
  scenarios: [
    {
      shows: "an acceptance that says nothing, a character a second",
      results: [
        ["ada.lovelace@stuttering.spamd.example.com", "unknown greylisted", "unknown timeout"],
        ["unknown.person@stuttering.spamd.example.com", "unknown greylisted", "unknown timeout"],
      ],
    },
  ],
};

export const exchangeTarpit: Receiver = {
  id: "exchange_tarpit",
  title: "Exchange with its tarpit",
  sources: [
    "TarpitInterval of a receive connector, five seconds by default: https://learn.microsoft.com/en-us/powershell/module/exchangepowershell/set-receiveconnector (2026-11)",
    "which replies are held back: https://itgeeknotes.blogspot.com/2017/03/ (2017-03)",
  ],
  hosts: ["mx.exchange.example.com"],
  greeting: "220 {host} Microsoft ESMTP MAIL Service ready at Sun, 22 Nov 2026 12:00:00 +0000",
  extensions: ["SIZE 37748736", "PIPELINING", "DSN", "ENHANCEDSTATUSCODES", "8BITMIME", "CHUNKING"],
  recipientSeconds: 5,
  mailboxes: {
    existing: "250 2.1.5 Recipient OK",
    unknown:
      "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup",
  },
  domains: [{ name: "tarpit.exchange.example.com" }],
  scenarios: [
    {
      shows: "30 names, of which half exist, five seconds for each",
      results: [
        ...expectExisting(15, "tarpit.exchange.example.com", "valid accepted"),
        ...expectUnknown(15, "tarpit.exchange.example.com", "invalid mailbox_not_found"),
      ],
    },
  ],
};
