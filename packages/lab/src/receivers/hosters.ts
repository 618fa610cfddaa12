import { expectExisting, expectRefusal } from "./lists.ts";
import type { Receiver } from "./receiver.ts";

export const godaddy: Receiver = {
  id: "godaddy",
  title: "GoDaddy Workspace Email",
  sources: [
    "rejected email with a bounce error: https://www.godaddy.com/help/fix-rejected-email-with-a-bounce-error-40685 (2026-11)",
    "IB105 and IB607 in logs: sisimai/rb-sisimai, rhost/godaddy (2026-11)",
  ],
  hosts: ["smtp.secureserver.net", "mailstore1.secureserver.net"],
  greeting: "220 p3plibsmtp02-08.prod.phx3.secureserver.net bizsmtp ESMTP server ready",
  extensions: ["PIPELINING", "SIZE 30000000", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 <{address}> recipient ok",
    unknown: "550 5.1.1 <{address}> Recipient not found.  <http://x.co/irbounce>",
  },
  blocks: [
    {
      stage: "greeting",
      reply:
        "554 p3plibsmtp02-08.prod.phx3.secureserver.net bizsmtp IB105. Connection refused. {client} is listed on the Exploits Block List (XBL) <http://www.spamhaus.org/query/ip/{client}> Please visit http://www.spamhaus.org/xbl/ for more information.",
    },
  ],
  domains: [{ name: "customer.godaddy.example.com" }],
  scenarios: [
    { shows: "mailboxes", results: expectRefusal("customer.godaddy.example.com") },
    {
      shows: "a client on a blocklist: the greeting is the refusal",
      isBlocked: true,
      results: expectExisting(200, "customer.godaddy.example.com", "unknown ip_blocked"),
    },
  ],
};

export const rackspace: Receiver = {
  id: "rackspace",
  title: "Rackspace",
  sources: [
    "replies by code: https://smtp.codes/rackspace (2026-11)",
    "common email bounce messages: https://docs.rackspace.com/docs/common-email-bounces (2026-11)",
    "could not be found, or was misspelled (G8): reacherhq/check-if-email-exists, core/src/smtp/parser.rs (2022-11)",
  ],
  hosts: ["mx1.emailsrvr.com", "mx2.emailsrvr.com"],
  extensions: ["PIPELINING", "SIZE 75000000", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown: "550 5.1.1 <{address}>: Email address could not be found, or was misspelled (G8)",
    busy: "450 4.2.1 <{address}>: Mailbox received too much email in a short period of time (G30)",
  },
  domains: [{ name: "customer.rackspace.example.com" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("customer.rackspace.example.com"),
        ["busy.person@customer.rackspace.example.com", "risky mailbox_rate_limited"],
      ],
    },
  ],
};

export const zoho: Receiver = {
  id: "zoho",
  title: "Zoho Mail",
  sources: ["replies by code: https://smtp.codes/zoho (2026-11)"],
  hosts: ["mx.zoho.com", "mx2.zoho.com"],
  greeting: "220 mx.zohomail.com SMTP Server ready November 22, 2026 12:00:00 PM PDT",
  extensions: ["PIPELINING", "SIZE 53477376"],
  mailboxes: {
    existing: "250 Recipient <{address}> OK",
    unknown: "550 5.1.1 <{address}> User unknown",
    disabled: "452 <{address}> Mailbox delivery restricted by policy error",
  },
  domains: [{ name: "zohomail.com" }, { name: "customer.zoho.example.com" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("customer.zoho.example.com"),
        [
          "disabled.person@customer.zoho.example.com",
          "unknown policy_blocked",
          "unknown recipient_restricted",
        ],
      ],
    },
  ],
};

export const infomaniak: Receiver = {
  id: "infomaniak",
  title: "Infomaniak",
  sources: ["replies by code: https://smtp.codes/550 (2026-11)"],
  notes: "The lab chose Postfix's words.",
  hosts: ["mta-gw.infomaniak.ch"],
  extensions: ["PIPELINING", "SIZE 104857600", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown: "550 5.1.1 <{address}>: Recipient address rejected: User unknown",
  },
  domains: [{ name: "customer.infomaniak.example.com" }],
  scenarios: [{ shows: "mailboxes", results: expectRefusal("customer.infomaniak.example.com") }],
};

export const libero: Receiver = {
  id: "libero",
  title: "Libero",
  sources: [
    "550 Too many invalid recipients at the greeting, in a log of Postfix: https://pastebin.com/d5zFErcd (2013-11)",
  ],
  notes: "The lab chose 30, and Postfix's words.",
  hosts: ["smtp-in.libero.it"],
  extensions: ["8BITMIME", "PIPELINING", "SIZE 42000000"],
  mailboxes: {
    existing: "250 2.1.5 <{address}> recipient ok",
    unknown: "550 5.1.1 <{address}> User unknown",
  },
  blocks: [
    {
      stage: "greeting",
      minutes: 60,
      afterUnknown: 30,
      reply: "550 Too many invalid recipients. For further information contact your provider.",
    },
  ],
  domains: [{ name: "libero.it" }],
  scenarios: [{ shows: "mailboxes", results: expectRefusal("libero.it") }],
};
