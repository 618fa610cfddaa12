import { expectRefusal, expectUnknown } from "./lists.ts";
import type { Receiver } from "./receiver.ts";

const EDGE_BLOCKED =
  "550 5.4.1 Recipient address rejected: Access denied. [AM7EUR03FT012.eop-EUR03.prod.protection.outlook.com 2025-09-03T05:00:00.000Z]";

export const cisco: Receiver = {
  id: "cisco",
  title: "Cisco Secure Email (IronPort)",
  sources: [
    "directory harvest attack prevention: 25 invalid recipients per hour, then 550: AsyncOS 7.6 for Email, Advanced Configuration Guide, OL-25137-01, chapter 3 (2026-11)",
    "550 #5.1.0 Address rejected.: customeros/mailsherpa#19 (2024-08)",
  ],
  hosts: ["mx1.hc1234-56.eu.iphmx.com", "mx2.hc1234-56.eu.iphmx.com"],
  greeting: "220 esa1.hc1234-56.eu.iphmx.com ESMTP",
  extensions: ["8BITMIME", "SIZE 52428800"],
  mailboxes: {
    existing: "250 recipient <{address}> ok",
    unknown: "550 #5.1.0 Address rejected.",
  },
  blocks: [
    {
      stage: "rcpt",
      minutes: 60,
      afterUnknown: 25,
      reply: "550 Too many invalid recipients",
    },
  ],
  domains: [{ name: "customer.cisco.example.com" }],
  scenarios: [
    { shows: "mailboxes", results: expectRefusal("customer.cisco.example.com") },
    {
      shows: "80 names that do not exist: the hour is over after 25",
      results: expectUnknown(
        80,
        "customer.cisco.example.com",
        "invalid mailbox_not_found",
        "unknown directory_harvest",
      ),
    },
  ],
};

export const spamexperts: Receiver = {
  id: "spamexperts",
  title: "SpamExperts (N-able)",
  sources: [
    "recipient callouts, a random recipient first: https://documentation.n-able.com/spamexperts/userguide/qsg/lc/Content/faqs/what-are-recipient-callouts.htm (2026-11)",
    "up to 30 seconds for one RCPT: issues of verifiers, collected in 2026 (2026-11)",
  ],
  hosts: ["mx1.antispamcloud.com", "mx2.antispamcloud.com"],
  greeting: "220 delivery.antispamcloud.com ESMTP",
  extensions: ["SIZE 104857600", "8BITMIME", "PIPELINING"],
  mailboxes: { existing: "250 Accepted", unknown: "550 No such recipient here" },
  recipientSeconds: 15,
  domains: [{ name: "customer.spamexperts.example.com" }],
  scenarios: [
    {
      shows: "15 seconds for each recipient",
      results: [
        ["ada.lovelace@customer.spamexperts.example.com", "valid accepted"],
        ["unknown.person@customer.spamexperts.example.com", "invalid mailbox_not_found"],
      ],
    },
  ],
};

export const hornetsecurity: Receiver = {
  id: "hornetsecurity",
  title: "Hornetsecurity",
  sources: [
    "recipients checked by the system behind it: reacherhq/check-if-email-exists, issues on gateways (2026-11)",
  ],
  notes: "The lab chose Postfix's words.",
  hosts: ["mx01.hornetsecurity.com", "mx02.hornetsecurity.com"],
  extensions: ["PIPELINING", "SIZE 104857600", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown: "550 5.1.1 <{address}>: Recipient address rejected: User unknown",
  },
  domains: [
    { name: "customer.hornet.example.com" },
    {
      name: "tenant.hornet.example.com",
      setting: "a Microsoft tenant decides",
      mailboxes: { unknown: EDGE_BLOCKED },
    },
  ],
  scenarios: [
    {
      shows: "customers' settings",
      results: [...expectRefusal("customer.hornet.example.com")],
    },
    {
      shows: "a tenant behind it refuses at its edge",
      results: expectRefusal("tenant.hornet.example.com"),
    },
  ],
};

export const zerospam: Receiver = {
  id: "zerospam",
  title: "ZEROSPAM",
  sources: [
    "so your email was blocked: https://www.zerospam.ca/en/email-security/been-blocked/so-youve-been-blocked/ (2026-11)",
    "Not in recipient list: ActiveCampaign/smtp-field-manual@67831a2 (2026-11)",
  ],
  hosts: ["mx1.zerospam.example.com"],
  extensions: ["PIPELINING", "SIZE 104857600", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown: "554 5.7.1 <{address}>: Recipient address rejected: Not in recipient list",
  },
  domains: [{ name: "customer.zerospam.example.com" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: expectRefusal("customer.zerospam.example.com"),
    },
  ],
};

export const symantec: Receiver = {
  id: "symantec",
  title: "Symantec Email Security.cloud",
  sources: ["replies by code: https://smtp.codes/550 (2026-11)"],
  hosts: ["cluster1.eu.messagelabs.com", "cluster1a.eu.messagelabs.com"],
  greeting: "220 server-5.bemta.az-a.eu-west-1.aws.symcld.net ESMTP",
  extensions: ["8BITMIME", "PIPELINING", "SIZE 52428800"],
  mailboxes: {
    existing: "250 OK",
    unknown: "550 Invalid recipient <{address}> (#5.1.1)",
  },
  domains: [{ name: "customer.symantec.example.com" }],
  scenarios: [{ shows: "mailboxes", results: expectRefusal("customer.symantec.example.com") }],
};
