import { expectExisting, expectRefusal, expectUnknown, numberDomains } from "./lists.ts";
import {
  always,
  type Expectation,
  type Receiver,
  type ReceiverDomain,
  type Scenario,
} from "./receiver.ts";

const EXTENSIONS = [
  "SIZE 157286400",
  "PIPELINING",
  "DSN",
  "ENHANCEDSTATUSCODES",
  "8BITMIME",
  "BINARYMIME",
  "CHUNKING",
  "SMTPUTF8",
];

const consumerDomain = (name: string): ReceiverDomain => ({
  name,
  hosts: [`${name.replaceAll(".", "-")}.olc.protection.outlook.com`],
});

export const microsoftConsumer: Receiver = {
  id: "microsoft_consumer",
  title: "Outlook.com, Hotmail, Live, MSN",
  sources: [
    "a second RCPT gets 452 on outlook.fr: AfterShip/email-verifier#72 (2023-01)",
    "452 4.5.3 Recipients belong to multiple regions: reacherhq/check-if-email-exists#756, #1334 (2023-09)",
    "policies, namespace mining among them: https://sendersupport.olc.protection.outlook.com/pm/policies.aspx (2026-06)",
    "S3150 as senders meet it: https://www.mail-archive.com/mailop@mailop.org/msg26053.html (2026-02)",
  ],
  notes: "The policies forbid verifying addresses without sending mail. The lab chose 100.",
  hosts: [],
  greeting:
    "220 AM7EUR06FT068.mail.protection.outlook.com Microsoft ESMTP MAIL Service ready at Sun, 22 Nov 2026 12:00:00 +0000",
  extensions: EXTENSIONS,
  mailboxes: {
    existing: "250 2.1.5 Recipient OK",
    unknown:
      "550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302). [AM7EUR06FT068.eop-eur06.prod.protection.outlook.com]",
  },
  limits: {
    recipientsPerTransaction: {
      most: 1,
      reply:
        "452 4.5.3 Recipients belong to multiple regions ATTR38 [AM7EUR06FT068.eop-eur06.prod.protection.outlook.com]",
    },
  },
  blocks: [
    {
      stage: "mail",
      reply:
        "550 5.7.1 Unfortunately, messages from [{client}] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150). You can also refer your provider to http://mail.live.com/mail/troubleshooting.aspx#errors. [AM7EUR06FT068.eop-eur06.prod.protection.outlook.com]",
    },
    {
      stage: "mail",
      afterUnknown: 100,
      reply:
        "550 SC-002 Mail rejected by Outlook.com for policy reasons. The mail server IP connecting to Outlook.com has exhibited namespace mining behavior.",
    },
  ],
  domains: [
    consumerDomain("outlook.com"),
    consumerDomain("hotmail.com"),
    consumerDomain("live.com"),
    consumerDomain("msn.com"),
    consumerDomain("outlook.fr"),
    consumerDomain("hotmail.co.uk"),
  ],
  scenarios: [
    {
      shows: "mailboxes of the family",
      results: [
        ...expectRefusal("outlook.com"),
        ...expectRefusal("hotmail.co.uk"),
        ...expectRefusal("live.com"),
      ],
      atMost: { overLimit: 0 },
    },
    {
      shows: "50 people of outlook.fr",
      results: expectExisting(50, "outlook.fr", "valid accepted"),
      atMost: { overLimit: 0 },
    },
    {
      shows: "a client whose network is on the block list",
      isBlocked: true,
      results: expectExisting(300, "outlook.com", "unknown ip_blocked"),
    },
    {
      shows: "300 names that do not exist: the block starts partway",
      results: expectUnknown(
        300,
        "hotmail.com",
        "invalid mailbox_not_found",
        "unknown directory_harvest",
        "unknown ip_blocked",
      ),
      atMost: { overLimit: 0 },
    },
  ],
};

const CUSTOMERS = "microsoft.example.com";
const SERVER = "[AM7EUR03FT012.eop-EUR03.prod.protection.outlook.com 2025-09-03T05:00:00.000Z]";
const tenants = numberDomains(30, "tenant", CUSTOMERS);

const tenant = (name: string, more: Partial<ReceiverDomain> = {}): ReceiverDomain => ({
  name,
  hosts: [`${name.replaceAll(".", "-")}.mail.protection.outlook.com`],
  ...more,
});

export const microsoft: Receiver = {
  id: "microsoft",
  title: "Microsoft 365",
  sources: [
    "Directory-Based Edge Blocking: 550 5.4.1: https://learn.microsoft.com/en-us/exchange/mail-flow-best-practices/use-directory-based-edge-blocking (2025-09)",
    "451 4.4.4, a tenant without mail-enabled subscriptions: https://bentonow.com/smtp-errors/microsoft (2025-06)",
    "Organization Queue Quota Exceeded: https://timmcmic.blog/2017/12/ (2017-12)",
    "4.7.500, 4.7.650, 5.7.606 and other codes that throttle or ban an IP address: https://learn.microsoft.com/en-us/exchange/mail-flow-best-practices/non-delivery-reports-in-exchange-online/non-delivery-reports-in-exchange-online (2026-11)",
    "451 4.7.500 and 550 5.7.606 as senders meet them: https://smtpfieldmanual.com/spamfilter/exchangeonline (2026-11)",
    "550 5.7.708, traffic not accepted from this IP address: https://learn.microsoft.com/en-us/exchange/mail-flow-best-practices/non-delivery-reports-in-exchange-online/fix-error-code-5-7-700-through-5-7-750 (2026-11)",
    "recipients of several regions in one transaction: reacherhq/check-if-email-exists#1334 (2023-09)",
  ],
  notes:
    "An internal relay (hybrid set-ups, migrations) accepts every recipient and bounces later.",
  hosts: [],
  greeting:
    "220 AM7EUR03FT012.mail.protection.outlook.com Microsoft ESMTP MAIL Service ready at Sun, 22 Nov 2026 12:00:00 +0000",
  extensions: EXTENSIONS,
  mailboxes: {
    existing: "250 2.1.5 Recipient OK",
    unknown: `550 5.4.1 Recipient address rejected: Access denied. For more information see https://aka.ms/EXOSmtpErrors ${SERVER}`,
  },
  limits: {
    domainsPerTransaction: {
      most: 1,
      reply: `451 4.4.4 Temporary server error. Please try again later. Recipients belong to multiple regions ATTR38 ${SERVER}`,
    },
  },
  blocks: [
    {
      name: "server busy",
      stage: "mail",
      sessions: 2,
      reply: `451 4.7.500 Server busy. Please try again later from [{client}]. (AS77712344) ${SERVER}`,
    },
    {
      name: "rate limited",
      stage: "mail",
      reply: `451 4.7.650 The mail server [{client}] has been temporarily rate limited due to IP reputation. For e-mail delivery information, see https://postmaster.live.com (S775) ${SERVER}`,
    },
    {
      name: "access denied for now",
      stage: "rcpt",
      reply: `451 4.7.550 Access denied, please try again later. ${SERVER}`,
    },
    {
      name: "banned",
      stage: "rcpt",
      reply: `550 5.7.606 Access denied, banned sending IP [{client}]. To request removal from this list please visit https://sender.office.com/ and follow the directions. (AS16012609) ${SERVER}`,
    },
    {
      name: "traffic not accepted",
      stage: "rcpt",
      reply: `550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP. (AS7230) ${SERVER}`,
    },
  ],
  domains: [
    ...tenants.map((name) => tenant(name)),
    tenant(`dane.${CUSTOMERS}`, { hosts: ["dane-microsoft-example-com.o-v1.mx.microsoft"] }),
    tenant(`edge-2019.${CUSTOMERS}`, {
      setting: "edge blocking, as it was worded until 2023",
      mailboxes: {
        unknown: "550 5.4.1 Recipient address rejected: Access denied. AS(201806281)",
      },
    }),
    tenant(`edge-off.${CUSTOMERS}`, {
      setting: "edge blocking off",
      mailboxes: { unknown: "250 2.1.5 Recipient OK" },
    }),
    tenant(`hybrid.${CUSTOMERS}`, {
      setting: "internal relay to Exchange on premises",
      mailboxes: { unknown: "250 2.1.5 Recipient OK" },
    }),
    tenant(`lapsed.${CUSTOMERS}`, {
      setting: "subscription lapsed",
      mailboxes: always(
        `451 4.4.4 Mail received as unauthenticated, incoming to a recipient domain configured in a hosted tenant which has no mail-enabled subscriptions. ATTR5 ${SERVER}`,
      ),
    }),
    tenant(`queue.${CUSTOMERS}`, {
      setting: "queue quota exceeded",
      mailboxes: always(`450 4.7.3 Organization queue quota exceeded. ${SERVER}`),
    }),
  ],
  scenarios: [
    {
      shows: "customers' settings",
      results: [
        ...expectRefusal("tenant-001.microsoft.example.com"),
        ...expectRefusal(`dane.${CUSTOMERS}`),
        ...expectRefusal(`edge-2019.${CUSTOMERS}`),
        [`ada.lovelace@edge-off.${CUSTOMERS}`, "catch_all catch_all"],
        [`ada.lovelace@hybrid.${CUSTOMERS}`, "catch_all catch_all"],
        [`ada.lovelace@lapsed.${CUSTOMERS}`, "risky domain_without_mailboxes"],
        [`ada.lovelace@queue.${CUSTOMERS}`, "unknown server_error", "unknown rate_limited"],
      ],
      atMost: { overLimit: 0 },
    },
    {
      shows: "a server that is busy for two sessions",
      isBlocked: "server busy",
      results: tenants.map((name): Expectation => [`ada.lovelace@${name}`, "valid accepted"]),
      atMost: { sessionsIntoBlock: 2 },
    },
    ...(
      [
        ["rate limited", "unknown ip_reputation", 20],
        // Ten concurrent sessions, and ten more after each of the two backoffs that recipients wait for.
        ["access denied for now", "unknown rate_limited", 30],
        ["banned", "unknown ip_blocked", 20],
        ["traffic not accepted", "unknown ip_blocked", 20],
      ] as const
    ).map(
      ([isBlocked, verdict, sessionsIntoBlock]): Scenario => ({
        shows: "30 customers, an address of each, for a listed client",
        isBlocked,
        results: tenants.map((name): Expectation => [`ada.lovelace@${name}`, verdict]),
        atMost: { sessionsIntoBlock },
      }),
    ),
    {
      shows: "30 customers, an address of each",
      results: tenants.map((name): Expectation => [`ada.lovelace@${name}`, "valid accepted"]),
      atMost: { overLimit: 0 },
    },
  ],
};
