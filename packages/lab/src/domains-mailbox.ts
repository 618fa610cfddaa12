import type { LabDomains } from "./domain.ts";
import {
  acceptAll,
  acceptExisting,
  acceptUpTo,
  alwaysReply,
  isExistingMailbox,
  PLAIN_EXTENSIONS,
  type Rule,
} from "./host-behavior.ts";

const createHost = (rcpt: Rule) => ({ mx: { rcpt } });

const acceptQuoted: Rule = (request) =>
  request.local === "john doe" ? "250 2.1.5 Ok" : acceptExisting()(request);

/** Gmail's form of a refusal, with the enhanced code on every line and a link at the end. */
const GMAIL_LIKE = [
  "550-5.1.1 The email account that you tried to reach does not exist. Please try",
  "550-5.1.1 double-checking the address for typing errors. For more, go to",
  "550 5.1.1  https://help.lab.invalid/?p=NoSuchUser - gsmtp",
].join("\n");

export const mailboxDomains: LabDomains = {
  valid: {
    shows: "Accepts its own mailboxes and refuses all others.",
    examples: [
      ["ada.lovelace", "valid", "accepted"],
      ["ada.lovelace+list", "valid", "accepted"],
      ["nobody", "invalid", "mailbox_not_found"],
    ],
    hosts: createHost(acceptExisting()),
  },
  unknown: {
    shows: "Has no mailboxes: refuses every recipient with 550 5.1.1.",
    examples: [["ada.lovelace", "invalid", "mailbox_not_found"]],
    hosts: createHost(alwaysReply("550 5.1.1 User unknown in virtual mailbox table")),
  },
  catchall: {
    shows: "Accepts every recipient.",
    examples: [
      ["ada.lovelace", "catch_all", "catch_all"],
      ["unknown.person", "catch_all", "catch_all"],
    ],
    hosts: createHost(acceptAll),
  },
  full: {
    shows: "Its mailboxes are full: 452 4.2.2.",
    examples: [["ada.lovelace", "risky", "mailbox_full"]],
    hosts: createHost(acceptExisting(undefined, "452 4.2.2 Mailbox full")),
  },
  overquota: {
    shows: "Its mailboxes are over quota: 552 5.2.2.",
    examples: [["ada.lovelace", "risky", "mailbox_full"]],
    hosts: createHost(
      acceptExisting(undefined, "552 5.2.2 The recipient's mailbox is over its quota"),
    ),
  },
  disabled: {
    shows: "Its mailboxes are disabled: 550 5.2.1.",
    examples: [["ada.lovelace", "invalid", "mailbox_disabled"]],
    hosts: createHost(acceptExisting(undefined, "550 5.2.1 This account is disabled")),
  },
  busy: {
    shows: "Its mailboxes receive mail too quickly: 450 4.2.1, which proves that they exist.",
    examples: [["ada.lovelace", "risky", "mailbox_rate_limited"]],
    hosts: createHost(
      acceptExisting(
        undefined,
        "450 4.2.1 The user you are trying to contact is receiving mail too quickly",
      ),
    ),
  },
  moved: {
    shows: "Its mailboxes have moved: 551 with a forward path, which is not followed.",
    examples: [["ada.lovelace", "invalid", "mailbox_moved"]],
    hosts: createHost(
      acceptExisting(undefined, "551 5.1.6 User not local; please try <ada@elsewhere.invalid>"),
    ),
  },
  multiline: {
    shows: "Refuses over three lines, the enhanced code on each, in many small packets.",
    hosts: { mx: { rcpt: acceptExisting(GMAIL_LIKE), wire: "pieces" } },
  },
  noenhanced: {
    shows: "Like Exim: greets over two lines and gives no enhanced codes.",
    hosts: {
      mx: {
        rcpt: acceptExisting("550 Unrouteable address", "250 Accepted"),
        greeting: "220-HOST ESMTP Exim 4.96\n220 No unsolicited mail here",
        extensions: ["SIZE 52428800", "8BITMIME", "PIPELINING", "HELP"],
      },
    },
  },
  opensmtpd: {
    shows: "Like OpenSMTPD: refuses an unknown mailbox with 524 5.2.4, and offers no PIPELINING.",
    hosts: {
      mx: {
        rcpt: acceptExisting(
          "524 5.2.4 Mailing list expansion problem: <>",
          "250 2.1.5 Destination address valid: Recipient ok",
        ),
        greeting: "220 HOST ESMTP OpenSMTPD",
        extensions: ["8BITMIME", "ENHANCEDSTATUSCODES", "SIZE 36700160", "DSN", "HELP"],
      },
    },
  },
  helo: {
    shows: "An old host that supports HELO but not EHLO.",
    hosts: {
      mx: {
        rcpt: acceptExisting("550 No such user here", "250 Recipient ok"),
        ehlo: "502 Command not implemented",
      },
    },
  },
  microsoft: {
    shows:
      "Refuses unknown mailboxes with 5.4.1 like Microsoft 365, which is a verdict only from a Microsoft host.",
    examples: [
      ["ada.lovelace", "risky", "catch_all_unverified"],
      ["unknown.person", "unknown", "policy_blocked"],
    ],
    mx: [[0, "microsoft.mail.protection."]],
    hosts: {
      "microsoft.mail.protection.": {
        rcpt: acceptExisting(
          "550 5.4.1 Recipient address rejected: Access denied.",
          "250 2.1.5 Recipient OK",
        ),
        tls: "offered",
        extensions: [
          "SIZE 157286400",
          ...PLAIN_EXTENSIONS.slice(0, 1),
          "DSN",
          "ENHANCEDSTATUSCODES",
          "SMTPUTF8",
        ],
      },
    },
  },
  yahoo: {
    shows: "Like the old Yahoo: accepts every recipient and refuses after the message.",
    examples: [["ada.lovelace", "catch_all", "catch_all"]],
    mx: [
      [1, "mta5.am0.yahoodns."],
      [1, "mta6.am0.yahoodns."],
    ],
    hosts: {
      "mta5.am0.yahoodns.": { rcpt: alwaysReply("250 recipient ok"), tls: "offered" },
      "mta6.am0.yahoodns.": { rcpt: alwaysReply("250 recipient ok"), tls: "offered" },
    },
  },
  mimecast: {
    shows: "Like Mimecast: refuses an unknown mailbox as Invalid Recipient, and offers TLS.",
    hosts: {
      mx: { rcpt: acceptExisting("550 Invalid Recipient - see the manual"), tls: "offered" },
    },
  },
  smtputf8: {
    shows: "Offers SMTPUTF8 and has mailboxes with names beyond ASCII.",
    examples: [
      ["zoë.müller", "valid", "accepted"],
      ["nobody", "invalid", "mailbox_not_found"],
    ],
    hosts: { mx: { rcpt: acceptExisting(), extensions: [...PLAIN_EXTENSIONS, "SMTPUTF8"] } },
  },
  noutf8: {
    shows: "Does not offer SMTPUTF8.",
    examples: [
      ["zoë.müller", "unknown", "smtputf8_unsupported"],
      ["ada.lovelace", "valid", "accepted"],
    ],
    hosts: createHost(acceptExisting()),
  },
  quoted: {
    shows: "Has a mailbox whose local part needs quotes.",
    examples: [
      ['"john doe"', "valid", "accepted"],
      ['"jane doe"', "invalid", "mailbox_not_found"],
    ],
    hosts: createHost(acceptQuoted),
  },
  bücher: {
    shows: "An internationalized domain, in DNS as xn--bcher-kva.",
    hosts: createHost(acceptExisting()),
  },
  shy: {
    shows: "Accepts its own mailboxes and defers random recipients: catch-all stays undecided.",
    examples: [["ada.lovelace", "risky", "catch_all_unverified"]],
    hosts: createHost(acceptExisting("450 4.1.1 Try another day")),
  },
  onlyone: {
    shows: "Accepts one recipient, then drops the connection: catch-all stays undecided.",
    examples: [["ada.lovelace", "risky", "catch_all_unverified"]],
    hosts: createHost((request) =>
      isExistingMailbox(request.local) ? acceptUpTo(1, {})(request) : {},
    ),
  },
};
