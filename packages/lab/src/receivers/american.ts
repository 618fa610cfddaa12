import { expectExisting, expectRefusal } from "./lists.ts";
import type { Receiver } from "./receiver.ts";

export const comcast: Receiver = {
  id: "comcast",
  title: "Comcast",
  sources: [
    "25 simultaneous connections per address: http://postmaster.comcast.net/mail-error-codes.html (2026-11)",
    "replies about mailboxes: ActiveCampaign/smtp-field-manual@67831a2 (2026-11)",
  ],
  notes: "Accounts move to Yahoo since June 2025 (https://bentonow.com/smtp-errors/yahoo).",
  hosts: ["mx1.comcast.net", "mx2.comcast.net"],
  greeting: "220 resimta-po-12v.sys.comcast.net resimta-po-12v.sys.comcast.net ESMTP server ready",
  extensions: ["PIPELINING", "SIZE 36700160", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 <{address}> recipient ok",
    unknown: "550 5.2.0 <{address}> - Recipient unavailable",
    disabled: "550 5.1.1 Account Closed, Please Remove",
    busy: "452 4.1.1 <{address}> too many recent messages; Try again later",
  },
  limits: {
    sessionsAtOnce: {
      most: 25,
      reply: "421 resimta-po-12v.sys.comcast.net Too many sessions opened",
    },
  },
  blocks: [
    {
      stage: "greeting",
      reply:
        "554 resimta-po-12v.sys.comcast.net comcast {client} found on one or more DNSBLs, see http://postmaster.comcast.net/smtp-error-codes.php#BL000010",
    },
  ],
  domains: [{ name: "comcast.net" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("comcast.net"),
        ["disabled.person@comcast.net", "invalid mailbox_disabled"],
        [
          "busy.person@comcast.net",
          "risky mailbox_rate_limited",
          "unknown rate_limited",
          "unknown mailbox_not_found_transient",
        ],
      ],
    },
    {
      shows: "a client on several blocklists: the greeting is the refusal",
      isBlocked: true,
      results: expectExisting(200, "comcast.net", "unknown ip_blocked"),
    },
  ],
};

export const att: Receiver = {
  id: "att",
  title: "AT&T, its own hosts",
  sources: [
    "550 5.2.1 … Addressee unknown: https://smtp.codes/550 (2026-11)",
    "553 5.3.0 … DNSBL:ATTRBL 521: https://blog.mailchannels.com/top-smtp-error-messages-june-2016/ (2016-06)",
  ],
  notes: "Consumer domains point to Yahoo since June 2025.",
  hosts: ["al-ip4-mx-vip1.prodigy.net", "al-ip4-mx-vip2.prodigy.net"],
  greeting: "220 flph399.prodigy.net ESMTP Sendmail Inbound 8.15.2/8.15.2",
  extensions: ["ENHANCEDSTATUSCODES", "PIPELINING", "8BITMIME", "SIZE 36700160"],
  mailboxes: {
    existing: "250 2.1.5 <{address}>... Recipient ok",
    unknown: "550 5.2.1 <{address}>... Addressee unknown, relay=[{client}]",
  },
  blocks: [
    {
      stage: "mail",
      reply:
        "553 5.3.0 flph399 DNSBL:ATTRBL 521< {client} >_is_blocked.__For_information_see_http://att.net/blocks",
    },
  ],
  domains: [{ name: "prodigy.net" }],
  scenarios: [
    { shows: "mailboxes", results: expectRefusal("prodigy.net") },
    {
      shows: "a client on the block list",
      isBlocked: true,
      results: expectExisting(200, "prodigy.net", "unknown ip_blocked"),
    },
  ],
};
