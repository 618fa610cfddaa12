import { expectExisting, expectRefusal, expectUnknown } from "./lists.ts";
import type { Receiver } from "./receiver.ts";

export const orange: Receiver = {
  id: "orange",
  title: "Orange, Wanadoo",
  sources: [
    "codes of the form OFR_XXX, two connections: https://bentonow.com/smtp-errors/orange (2025-06)",
    "552 for a full mailbox: sisimai/rb-sisimai, rhost/franceptt (2026-11)",
  ],
  hosts: ["smtp-in.orange.fr"],
  greeting: "220 mwinf5c42 ESMTP server ready",
  extensions: ["PIPELINING", "SIZE 44000000", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 <{address}> recipient ok",
    unknown:
      "550 5.1.1 <{address}> Adresse d au moins un destinataire invalide. Invalid recipient. OFR204_416 [416]",
    full: "552 5.1.1 <{address}> Adresse d au moins un destinataire invalide. Recipient overquota. OFR204_417 [417]",
  },
  limits: {
    sessionsAtOnce: {
      most: 2,
      reply:
        "421 smtp.orange.fr [{client}] Trop de connexions, veuillez verifier votre configuration. Too many connections, slow down. OFR004_104 [104]",
    },
  },
  domains: [{ name: "orange.fr" }, { name: "wanadoo.fr" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [...expectRefusal("orange.fr"), ["full.mailbox@wanadoo.fr", "risky mailbox_full"]],
    },
    {
      shows: "a list of 200: at most two connections",
      results: [
        ...expectExisting(100, "orange.fr", "valid accepted"),
        ...expectExisting(100, "wanadoo.fr", "valid accepted"),
      ],
      atMost: { overLimit: 0 },
    },
  ],
};

export const laposte: Receiver = {
  id: "laposte",
  title: "La Poste",
  sources: [
    "codes of the form LPN007_XXX, two connections, 100 messages in each: https://bentonow.com/smtp-errors/laposte (2025-06)",
  ],
  hosts: ["smtpz4.laposte.net"],
  extensions: ["PIPELINING", "SIZE 27262976", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown:
      "550 5.1.1 <{address}>: Recipient address rejected: Adresse d au moins un destinataire invalide. Invalid recipient. LPN007_416",
  },
  limits: {
    sessionsAtOnce: {
      most: 2,
      reply:
        "450 4.7.1 <[{client}]>: Client host rejected: Service refuse. Veuillez essayer plus tard. service refused, please try later. LPN027_503",
    },
    transactionsPerSession: {
      most: 100,
      reply: "421 4.7.0 Service refuse. Veuillez essayer plus tard. LPN027_503",
    },
  },
  domains: [{ name: "laposte.net" }],
  scenarios: [
    {
      shows: "mailboxes, over two connections at most",
      results: [
        ...expectRefusal("laposte.net"),
        ...expectExisting(100, "laposte.net", "valid accepted"),
      ],
      atMost: { overLimit: 0 },
    },
  ],
};

export const free: Receiver = {
  id: "free",
  title: "Free",
  sources: [
    "a block grows with spam and errors, and lasts a day at most: http://postmaster.free.fr/ (2026-11)",
  ],
  notes: "The lab chose 30, and Postfix's words.",
  hosts: ["mx1.free.fr", "mx2.free.fr"],
  extensions: ["PIPELINING", "SIZE 78643200", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown:
      "550 5.1.1 <{address}>: Recipient address rejected: User unknown in relay recipient table",
  },
  blocks: [
    {
      stage: "rcpt",
      afterUnknown: 30,
      reply: "451 too many errors from your ip ({client}), please visit http://postmaster.free.fr/",
    },
  ],
  domains: [{ name: "free.fr" }],
  scenarios: [
    { shows: "mailboxes", results: expectRefusal("free.fr") },
    {
      shows: "100 names that do not exist: the block starts partway",
      results: expectUnknown(
        100,
        "free.fr",
        "invalid mailbox_not_found",
        "unknown directory_harvest",
        "unknown ip_blocked",
      ),
    },
  ],
};

export const sfr: Receiver = {
  id: "sfr",
  title: "SFR",
  sources: [
    "codes of the form SFR_IN_XXX: unknown users close the service for two hours: https://bentonow.com/smtp-errors/sfr (2025-06)",
  ],
  notes: "The lab chose 30, and Postfix's words.",
  hosts: ["smtp-in.sfr.fr"],
  extensions: ["PIPELINING", "SIZE 50000000", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown: "550 5.1.1 <{address}>: Recipient address rejected: User unknown",
  },
  limits: {
    sessionsAtOnce: {
      most: 2,
      reply: "421 4.7.0 {host} Error: too many connections from {client}",
    },
    refusalsPerSession: { most: 10, reply: "421 4.7.0 msfrf2604.sfr.fr Error: too many errors" },
  },
  blocks: [
    {
      stage: "mail",
      minutes: 120,
      afterUnknown: 30,
      reply:
        "450 4.7.1 <[{client}]>: Client host rejected: Service refused, too many unknown users. SFR_IN_104",
    },
  ],
  domains: [{ name: "sfr.fr" }, { name: "neuf.fr" }],
  scenarios: [
    {
      shows: "mailboxes, over two connections at most",
      results: [...expectRefusal("sfr.fr"), ...expectExisting(60, "neuf.fr", "valid accepted")],
      atMost: { overLimit: 0 },
    },
    {
      shows: "100 names that do not exist: the service closes on the way",
      results: expectUnknown(
        100,
        "sfr.fr",
        "invalid mailbox_not_found",
        "unknown directory_harvest",
        "unknown ip_blocked",
      ),
      atMost: { overLimit: 0 },
    },
  ],
};

export const ovh: Receiver = {
  id: "ovh",
  title: "OVH",
  sources: [
    "diagnosis of the MX plan: https://help.ovhcloud.com/csm/en-mx-plan-email-diagnosis?id=kb_article_view&sysparm_article=KB0051869 (2026-02)",
  ],
  notes: "The lab chose Postfix's words.",
  hosts: ["mx1.mail.ovh.net", "mx2.mail.ovh.net"],
  extensions: ["PIPELINING", "SIZE 104857600", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown: "550 5.1.1 <{address}>: Recipient address rejected: User unknown",
  },
  domains: [{ name: "customer.ovh.example.com" }],
  scenarios: [{ shows: "mailboxes", results: expectRefusal("customer.ovh.example.com") }],
};
