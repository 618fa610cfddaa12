import { expectRefusal, expectUnknown } from "./lists.ts";
import { always, type Receiver } from "./receiver.ts";

export const postfix: Receiver = {
  id: "postfix_address_verification",
  title: "Postfix that asks the system behind it",
  sources: [
    "reject_unverified_recipient: https://www.postfix.org/ADDRESS_VERIFICATION_README.html (2026-11)",
    "smtpd_hard_error_limit: 20: https://www.postfix.org/postconf.5.html (2026-11)",
  ],
  notes: "It quotes the inner server's reply, which decides.",
  hosts: ["mx.postfix.example.com"],
  extensions: ["PIPELINING", "SIZE 10240000", "ETRN", "ENHANCEDSTATUSCODES", "8BITMIME", "DSN"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown:
      "550 5.1.1 <{address}>: Recipient address rejected: undeliverable address: host mail.inner.example.net[192.0.2.5] said: 550 5.1.1 <{address}>: Recipient address rejected: User unknown in virtual mailbox table (in reply to RCPT TO command)",
  },
  limits: {
    refusalsPerSession: { most: 20, reply: "421 4.7.0 {host} Error: too many errors" },
  },
  domains: [
    { name: "relay.postfix.example.com" },
    {
      name: "waiting.postfix.example.com",
      setting: "the inner server has not answered yet",
      mailboxes: always(
        "450 4.1.1 <{address}>: Recipient address rejected: unverified address: Address verification in progress",
      ),
    },
    {
      name: "blocked.postfix.example.com",
      setting: "the inner server refuses the relay",
      mailboxes: always(
        "550 5.1.1 <{address}>: Recipient address rejected: undeliverable address: host mail.inner.example.net[192.0.2.5] said: 554 5.7.1 <relay.example.net[198.51.100.7]>: Client host rejected: Access denied (in reply to RCPT TO command)",
      ),
    },
  ],
  scenarios: [
    {
      shows: "the inner server's reply counts",
      results: [
        ...expectRefusal("relay.postfix.example.com"),
        ["ada.lovelace@waiting.postfix.example.com", "unknown mailbox_not_found_transient"],
        ["ada.lovelace@blocked.postfix.example.com", "unknown ip_blocked"],
      ],
    },
    {
      shows: "100 names that do not exist",
      results: expectUnknown(100, "relay.postfix.example.com", "invalid mailbox_not_found"),
      atMost: { overLimit: 0 },
    },
  ],
};

export const exim: Receiver = {
  id: "exim_callout",
  title: "Exim that calls out to the system behind it",
  sources: [
    "recipient callouts: https://www.exim.org/exim-html-current/doc/html/spec_html/ch-access_control_lists.html (2026-11)",
  ],
  hosts: ["mx.exim.example.com"],
  greeting: "220-{host} ESMTP Exim 4.98\n220 No unsolicited mail here",
  extensions: ["SIZE 52428800", "8BITMIME", "PIPELINING", "HELP"],
  mailboxes: {
    existing: "250 Accepted",
    unknown:
      "550-Callout verification failed:\n550 550 5.1.1 <{address}>: Recipient address rejected: User unknown",
  },
  domains: [
    { name: "callout.exim.example.com" },
    {
      name: "down.exim.example.com",
      setting: "the inner server is down",
      mailboxes: always("451 Could not complete recipient verify callout"),
    },
    {
      name: "router.exim.example.com",
      setting: "no callout: the routers know the mailboxes",
      mailboxes: { unknown: "550 Unrouteable address" },
    },
  ],
  scenarios: [
    {
      shows: "the inner server's reply counts",
      results: [
        ...expectRefusal("callout.exim.example.com"),
        ...expectRefusal("router.exim.example.com"),
        ["ada.lovelace@down.exim.example.com", "unknown server_error", "unknown greylisted"],
      ],
    },
  ],
};

export const opensmtpd: Receiver = {
  id: "opensmtpd",
  title: "OpenSMTPD",
  sources: ["replies of smtp_session.c: https://github.com/OpenSMTPD/OpenSMTPD (2026-11)"],
  hosts: ["mx.opensmtpd.example.com"],
  extensions: ["8BITMIME", "ENHANCEDSTATUSCODES", "SIZE 36700160", "DSN"],
  mailboxes: {
    existing: "250 2.1.5 Destination address valid: Recipient ok",
    unknown: "550 Invalid recipient: <{address}>",
  },
  domains: [
    { name: "own.opensmtpd.example.com" },
    {
      name: "aliases.opensmtpd.example.com",
      setting: "aliases expanded at RCPT",
      mailboxes: { unknown: "524 5.2.4 Mailing list expansion problem: <{address}>" },
    },
  ],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("own.opensmtpd.example.com"),
        ...expectRefusal("aliases.opensmtpd.example.com"),
      ],
    },
  ],
};
