import { expectExisting, expectRefusal, expectUnknown } from "./lists.ts";
import type { Receiver } from "./receiver.ts";

export const gmx: Receiver = {
  id: "gmx",
  title: "GMX, web.de, mail.com",
  sources: [
    "error messages: several lines, no enhanced codes: https://postmaster.gmx.com/en/error-messages (2025-11)",
    "replies by brand: https://smtp.codes/unitedinternet/ (2026-11)",
  ],
  notes: "The last line's link has the cause (c=r1601: no such mailbox).",
  hosts: ["mx00.emig.gmx.net", "mx01.emig.gmx.net"],
  greeting: "220 gmx.net (mxgmx104) Nemesis ESMTP Service ready",
  extensions: ["8BITMIME", "SIZE 157286400"],
  mailboxes: {
    existing: "250 Requested mail action okay, completed",
    unknown:
      "550-Requested action not taken: mailbox unavailable\n550 For explanation visit https://postmaster.gmx.net/en/case?c=r1601&i=ip&v={client}&r=1MNcgj-1ue23t3pyV-00S2YR",
  },
  blocks: [
    {
      stage: "greeting",
      reply:
        "554-gmx.net (mxgmx104) Nemesis ESMTP Service not available\n554-No SMTP service\n554-IP address is block listed.\n554 For explanation visit https://postmaster.gmx.net/en/case?c=r0201&i=ip&v={client}&r=1MNcgj-1ue23t3pyV-00S2YR",
    },
  ],
  domains: [
    { name: "gmx.net" },
    { name: "gmx.de" },
    { name: "web.de", hosts: ["mx-ha02.web.de", "mx-ha03.web.de"] },
    { name: "mail.com", hosts: ["mx00.mail.com", "mx01.mail.com"] },
  ],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("gmx.net"),
        ...expectRefusal("web.de"),
        ...expectRefusal("mail.com"),
      ],
    },
    {
      shows: "a client on the block list: the greeting is the refusal",
      isBlocked: true,
      results: expectExisting(200, "gmx.de", "unknown ip_blocked"),
    },
  ],
};

export const ionos: Receiver = {
  id: "ionos",
  title: "IONOS",
  sources: [
    "SMTP error messages of the IONOS mail servers: https://www.ionos.de/hilfe/e-mail/postmaster/smtp-fehlermeldungen-der-11-ionos-mailserver (2026-11)",
  ],
  notes: "The lab chose 50.",
  hosts: ["mx00.kundenserver.de", "mx01.kundenserver.de"],
  greeting: "220 kundenserver.de (mxeue012) Nemesis ESMTP Service ready",
  extensions: ["8BITMIME", "SIZE 157286400"],
  mailboxes: {
    existing: "250 Requested mail action okay, completed",
    unknown: "550 Requested action not taken: mailbox unavailable",
    full: "550 Quota Exceeded",
  },
  blocks: [
    {
      stage: "greeting",
      minutes: 60,
      afterUnknown: 50,
      reply: "421 Reject due to policy violations",
    },
  ],
  domains: [{ name: "customer.ionos.example.com" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("customer.ionos.example.com"),
        ["full.mailbox@customer.ionos.example.com", "risky mailbox_full"],
      ],
    },
    {
      shows: "150 names that do not exist: the service closes on the way",
      results: expectUnknown(
        150,
        "customer.ionos.example.com",
        "invalid mailbox_not_found",
        "unknown policy_blocked",
        "unknown rate_limited",
        "unknown server_error",
        "unknown server_refuses",
      ),
    },
  ],
};

export const tOnline: Receiver = {
  id: "t_online",
  title: "T-Online",
  sources: [
    "a client without a reputation is refused at the greeting until its operator writes: https://www.spamresource.com/2020/06/whoops-t-onlinede-not-accepting-mail.html (2020-06)",
    "554 … None/bad reputation (NOWL): https://bllmnn.de/2024/05/fehler-554-none-bad-reputation-beim-mailversand-an-t-online-de (2024-05)",
    "replies about mailboxes: http://www.sitepackage.de/service/dokumentation/auswertung/typische-fehlermeldungen-bei-unzustellbarkeit.html (2026-11)",
  ],
  hosts: ["mx00.t-online.de", "mx01.t-online.de"],
  greeting: "220 mailin24.mgt.mul.t-online.de T-Online ESMTP receiver fssmtpd2025 ready.",
  extensions: ["PIPELINING", "SIZE 52428800", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 Recipient accepted",
    unknown: "550 5.1.1 user unknown",
    full: "552 5.2.2 Over STORAGE quota",
  },
  blocks: [
    {
      stage: "greeting",
      reply:
        "554 IP={client} - None/bad reputation. Ask your postmaster for help or to contact tobr@rx.t-online.de for reset. (NOWL)",
    },
  ],
  domains: [{ name: "t-online.de" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("t-online.de"),
        ["full.mailbox@t-online.de", "risky mailbox_full"],
      ],
    },
    {
      shows: "a client that T-Online has not met",
      isBlocked: true,
      results: expectExisting(200, "t-online.de", "unknown ip_reputation", "unknown ip_blocked"),
    },
  ],
};
