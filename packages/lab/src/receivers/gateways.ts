import { expectExisting, expectRefusal } from "./lists.ts";
import { always, type Receiver } from "./receiver.ts";

// Filters in front of other mail systems. Many ask the system behind them, and pass on its reply.

const EDGE_BLOCKED =
  "550 5.4.1 Recipient address rejected: Access denied. [AM7EUR03FT012.eop-EUR03.prod.protection.outlook.com 2025-09-03T05:00:00.000Z]";

export const mimecast: Receiver = {
  id: "mimecast",
  title: "Mimecast",
  sources: [
    "Mimecast SMTP error codes: https://mimecastsupport.zendesk.com/hc/en-us/articles/34000709564691 (2026-11)",
    "the same page as it was: https://community.mimecast.com/s/article/Mimecast-SMTP-Error-Codes-842605754 (2022-06)",
  ],
  notes: "Customers choose among six recipient checks. Greylisting lasts from one minute.",
  hosts: ["eu-smtp-inbound-1.mimecast.com", "eu-smtp-inbound-2.mimecast.com"],
  greeting: "220 eu-smtp-1.mimecast.com ESMTP; Sun, 22 Nov 2026 12:00:00 +0000",
  extensions: ["ENHANCEDSTATUSCODES", "SIZE 209715200"],
  mailboxes: {
    existing: "250 OK [vH7Ns8biNg-p6EfZ0QaVMQ.uk149]",
    unknown:
      "550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [vH7Ns8biNg-p6EfZ0QaVMQ.uk149]",
  },
  blocks: [
    {
      stage: "rcpt",
      reply:
        "550 csi.mimecast.org Poor Reputation Sender. - https://community.mimecast.com/docs/DOC-1369#550 [vH7Ns8biNg-p6EfZ0QaVMQ.us149]",
    },
  ],
  domains: [
    { name: "checked.mimecast.example.com" },
    {
      name: "federated.mimecast.example.com",
      setting: "a federated account: 451 for an unknown recipient",
      mailboxes: {
        unknown:
          "451 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#451 [vH7Ns8biNg-p6EfZ0QaVMQ.uk149]",
      },
    },
    {
      name: "greylisted.mimecast.example.com",
      setting: "greylisting",
      greylist: {
        minutes: 1,
        reply:
          "451 Internal resource temporarily unavailable - https://community.mimecast.com/docs/DOC-1369#451 [vH7Ns8biNg-p6EfZ0QaVMQ.uk149]",
      },
    },
    {
      name: "forwarded.mimecast.example.com",
      setting: "the tenant behind it decides",
      mailboxes: { unknown: EDGE_BLOCKED },
    },
    {
      name: "unchecked.mimecast.example.com",
      setting: "no recipient check",
      mailboxes: { unknown: "250 OK [vH7Ns8biNg-p6EfZ0QaVMQ.uk149]" },
    },
  ],
  scenarios: [
    {
      shows: "customers' settings",
      results: [
        ...expectRefusal("checked.mimecast.example.com"),
        ["ada.lovelace@unchecked.mimecast.example.com", "catch_all catch_all"],
        ["ada.lovelace@greylisted.mimecast.example.com", "unknown greylisted"],
      ],
    },
    {
      shows: "a tenant behind it refuses at its edge",
      results: expectRefusal("forwarded.mimecast.example.com"),
    },
    {
      shows: "an unknown recipient of a federated account",
      results: [
        [
          "unknown.person@federated.mimecast.example.com",
          "unknown mailbox_not_found_transient",
          "risky mailbox_not_found_transient",
        ],
      ],
    },
    {
      shows: "a client with a poor reputation",
      isBlocked: true,
      results: expectExisting(
        200,
        "checked.mimecast.example.com",
        "unknown ip_reputation",
        "unknown ip_blocked",
      ),
    },
  ],
};

export const proofpoint: Receiver = {
  id: "proofpoint",
  title: "Proofpoint, Proofpoint Essentials",
  sources: [
    "User email address is marked as invalid: https://www.spambrella.com/faq/email-delivery-error-codes/ (2026-11)",
    "421 4.1.1 … Address verification in progress: ActiveCampaign/smtp-field-manual@67831a2 (2026-11)",
    "postmaster: https://www.proofpoint.com/postmaster (2026-11)",
  ],
  notes: "Essentials learns recipients for weeks, and relays to unlisted ones meanwhile.",
  hosts: ["mx0a-00000001.pphosted.com", "mx0b-00000001.pphosted.com"],
  extensions: ["PIPELINING", "8BITMIME", "SIZE 52428800", "ENHANCEDSTATUSCODES"],
  mailboxes: {
    existing: "250 2.1.5 <{address}>... Recipient ok",
    unknown: "550 5.1.1 <{address}>... User Unknown",
  },
  blocks: [
    {
      stage: "greeting",
      reply: "554 Blocked - see https://ipcheck.proofpoint.com/?ip={client}",
    },
  ],
  domains: [
    { name: "enterprise.proofpoint.example.com" },
    {
      name: "essentials.proofpoint.example.com",
      hosts: ["mx1-us1.ppe-hosted.com"],
      setting: "Essentials: the inner server decides",
      mailboxes: {
        existing: "250 2.1.5 Ok",
        unknown:
          "550 5.1.1 <{address}>: Recipient address rejected: undeliverable address: host mail.inner.example.net[192.0.2.5] said: 550 5.1.1 <{address}>: Recipient address rejected: User unknown (in reply to RCPT TO command)",
      },
    },
    {
      name: "listed.proofpoint.example.com",
      hosts: ["mx1-us1.ppe-hosted.com"],
      setting: "Essentials: the address is on its list of invalid ones",
      mailboxes: {
        existing: "250 2.1.5 Ok",
        unknown:
          "550 5.7.1 <{address}>: Recipient address rejected: User email address is marked as invalid",
      },
    },
    {
      name: "tenant.proofpoint.example.com",
      hosts: ["mx1-us1.ppe-hosted.com"],
      setting: "Essentials: a Microsoft tenant decides",
      mailboxes: {
        existing: "250 2.1.5 Ok",
        unknown:
          "550 5.4.1 <{address}>: Recipient address rejected: undeliverable address: host tenant.mail.protection.outlook.com[192.0.2.5] said: 550 5.4.1 Recipient address rejected: Access denied. [AM7EUR03FT012.eop-EUR03.prod.protection.outlook.com] (in reply to RCPT TO command)",
      },
    },
    {
      name: "waiting.proofpoint.example.com",
      hosts: ["mx1-us1.ppe-hosted.com"],
      setting: "Essentials: the inner server has not answered yet",
      mailboxes: always(
        "421 4.1.1 <{address}>: Recipient address rejected: unverified address: Address verification in progress",
      ),
    },
  ],
  scenarios: [
    {
      shows: "customers' settings",
      results: [
        ...expectRefusal("enterprise.proofpoint.example.com"),
        ...expectRefusal("listed.proofpoint.example.com"),
      ],
    },
    {
      shows: "the inner server decides",
      results: [
        ...expectRefusal("essentials.proofpoint.example.com"),
        ...expectRefusal("tenant.proofpoint.example.com"),
      ],
    },
    {
      shows: "an address that is being verified does not pause the others",
      results: [
        [
          "ada.lovelace@waiting.proofpoint.example.com",
          "unknown mailbox_not_found_transient",
          "unknown greylisted",
          "unknown server_error",
        ],
        ...expectExisting(40, "listed.proofpoint.example.com", "valid accepted"),
      ],
    },
    {
      shows: "a client that Proofpoint lists: the greeting is the refusal",
      isBlocked: true,
      results: expectExisting(200, "enterprise.proofpoint.example.com", "unknown ip_blocked"),
    },
  ],
};

export const barracuda: Receiver = {
  id: "barracuda",
  title: "Barracuda Email Gateway Defense",
  sources: [
    "recipient verification: Block, or Scan by the customer's own server: https://campus.barracuda.com/doc/167977123 (2026-11)",
    "live and cached replies of the inner server: https://campus.barracuda.com/product/essentials/doc/169287426/email-cache-policies (2026-11)",
    "cuda_nsu: https://smtp.codes/550 (2026-11)",
  ],
  hosts: ["d123456a.ess.barracudanetworks.com", "d123456b.ess.barracudanetworks.com"],
  extensions: ["SIZE 367001600", "PIPELINING", "8BITMIME"],
  mailboxes: {
    existing: "250 Ok",
    unknown: "550 permanent failure for one or more recipients ({address}:550 5.1.1 User unknown)",
  },
  domains: [
    { name: "scan.barracuda.example.com" },
    {
      name: "tenant.barracuda.example.com",
      setting: "a Microsoft tenant decides",
      mailboxes: {
        unknown: `550 permanent failure for one or more recipients ({address}:${EDGE_BLOCKED})`,
      },
    },
    {
      name: "block.barracuda.example.com",
      setting: "a list of its own: anyone else is blocked",
      mailboxes: {
        unknown: "550 permanent failure for one or more recipients ({address}:blocked)",
      },
    },
    {
      name: "appliance.barracuda.example.com",
      setting: "the appliance",
      mailboxes: { unknown: "550 cuda_nsu 5.1.1 <{address}>... User unknown" },
    },
  ],
  scenarios: [
    {
      shows: "customers' settings",
      results: [
        ...expectRefusal("scan.barracuda.example.com"),
        ...expectRefusal("appliance.barracuda.example.com"),
        [
          "unknown.person@block.barracuda.example.com",
          "unknown policy_blocked",
          "unknown recipient_restricted",
          "unknown ip_blocked",
          "unknown unclassified_permanent",
        ],
      ],
    },
    {
      shows: "a tenant behind it refuses at its edge",
      results: expectRefusal("tenant.barracuda.example.com"),
    },
  ],
};
