import { expectExisting, expectRefusal, numberDomains } from "./lists.ts";
import { always, type Expectation, type Receiver, type Verdict } from "./receiver.ts";

const CUSTOMERS = "google.example.com";
const companies = numberDomains(200, "company", CUSTOMERS);
const demanding = numberDomains(5, "tls-required", CUSTOMERS);
const closed = numberDomains(5, "allowlist", CUSTOMERS);

const expectOneEach = (
  domains: readonly string[],
  ...verdicts: readonly Verdict[]
): readonly Expectation[] =>
  domains.map((domain): Expectation => [`ada.lovelace@${domain}`, ...verdicts]);

/** The 421 about the next domain may end the session before the reply about this domain's random recipient. */
const BEFORE_AN_END: readonly Verdict[] = ["valid accepted", "risky catch_all_unverified"];

const GMAIL = ["gmail-smtp-in.l.google.com", "alt1.gmail-smtp-in.l.google.com"];

export const google: Receiver = {
  id: "google",
  title: "Gmail and Google Workspace",
  sources: [
    "Gmail SMTP errors and codes: https://support.google.com/a/answer/3726730 (2026-02)",
    "421 4.7.28, an unusual rate of mail from an IP address: https://help.zoho.com/portal/en/kb/campaigns/deliverability-guide/troubleshooting-emails/articles/why-gmail-rate-limits-your-marketing-emails (2026-11)",
    "whether Gmail refuses unknown recipients at RCPT is disputed: hbattat/verifyEmail#64, zytzagoo/smtp-validate-email#84 (2026-11)",
  ],
  notes:
    "All Workspace domains share the hosts. A 421 about the RCPT domain is one customer's setting, not a limit on the client. The lab chose 24 h.",
  hosts: ["aspmx.l.google.com", "alt1.aspmx.l.google.com"],
  greeting: "220 mx.google.com ESMTP 4fb4d7f45d1cf-68d - gsmtp",
  extensions: [
    "SIZE 157286400",
    "8BITMIME",
    "ENHANCEDSTATUSCODES",
    "PIPELINING",
    "CHUNKING",
    "SMTPUTF8",
  ],
  mailboxes: {
    existing: "250 2.1.5 OK 4fb4d7f45d1cf-68d - gsmtp",
    unknown:
      "550-5.1.1 The email account that you tried to reach does not exist. Please try\n550-5.1.1 double-checking the recipient's email address for typos or\n550-5.1.1 unnecessary spaces. For more information, go to\n550 5.1.1  https://support.google.com/mail/?p=NoSuchUser 4fb4d7f45d1cf-68d - gsmtp",
    full: "452-4.2.2 The recipient's inbox is out of storage space. Please direct the\n452-4.2.2 recipient to\n452 4.2.2  https://support.google.com/mail/?p=OverQuotaTemp 4fb4d7f45d1cf-68d - gsmtp",
    disabled:
      "550-5.2.1 The email account that you tried to reach is inactive. For more information, go to\n550 5.2.1  https://support.google.com/mail/?p=DisabledUser 4fb4d7f45d1cf-68d - gsmtp",
    busy: "450-4.2.1 The user you are trying to contact is receiving mail too quickly. For more\n450 4.2.1  information, go to https://support.google.com/mail/?p=ReceivingRate 4fb4d7f45d1cf-68d - gsmtp",
  },
  limits: {
    domainsPerTransaction: {
      most: 1,
      reply:
        "451 4.3.0 Multiple destination domains per transaction is unsupported. Please try again. 4fb4d7f45d1cf-68d - gsmtp",
    },
    recipientsPerTransaction: {
      most: 100,
      reply: "452 4.5.3 Your message has too many recipients. 4fb4d7f45d1cf-68d - gsmtp",
    },
  },
  blocks: [
    {
      name: "rate limited",
      stage: "rcpt",
      reply:
        "421-4.7.28 Gmail has detected an unusual rate of unsolicited mail originating\n421-4.7.28 from your IP address. To protect our users from spam, mail sent from your\n421-4.7.28 IP address has been temporarily rate limited. For more information, go to\n421 4.7.28  https://support.google.com/mail/?p=UnsolicitedRateLimitError 4fb4d7f45d1cf-68d - gsmtp",
    },
  ],
  domains: [
    { name: "gmail.com", hosts: GMAIL },
    { name: "googlemail.com", hosts: GMAIL },
    ...companies.map((name) => ({ name })),
    {
      name: `catch-all.${CUSTOMERS}`,
      setting: "a default route for unknown recipients",
      mailboxes: { unknown: "250 2.1.5 OK 4fb4d7f45d1cf-68d - gsmtp" },
    },
    {
      name: `groups.${CUSTOMERS}`,
      setting: "groups that only members may write to",
      mailboxes: always(
        "550-5.7.1 The group you tried to contact ({local}) may not exist, or you may not have\n550 5.7.1 permission to post messages to it. - gsmtp",
      ),
    },
    ...demanding.map((name) => ({
      name,
      setting: "TLS of its own kind required",
      mailboxes: always("421 4.7.0 TLS required for RCPT domain, closing connection. - gsmtp"),
    })),
    ...closed.map((name) => ({
      name,
      setting: "mail from listed clients only",
      mailboxes: always(
        "421 4.7.0 IP not in whitelist for RCPT domain, closing connection. - gsmtp",
      ),
    })),
  ],
  scenarios: [
    {
      shows: "mailboxes of Gmail",
      results: [
        ...expectRefusal("gmail.com"),
        ["full.mailbox@gmail.com", "risky mailbox_full"],
        ["disabled.person@gmail.com", "invalid mailbox_disabled"],
        ["busy.person@gmail.com", "risky mailbox_rate_limited"],
      ],
    },
    {
      shows: "200 customers, an address of each",
      results: expectOneEach(companies, "valid accepted"),
      atMost: { overLimit: 0 },
    },
    {
      shows: "customers' own settings",
      results: [
        ...expectRefusal("company-001.google.example.com"),
        [`ada.lovelace@catch-all.${CUSTOMERS}`, "catch_all catch_all"],
        [`ada.lovelace@groups.${CUSTOMERS}`, "unknown recipient_restricted"],
      ],
    },
    {
      shows: "ten customers who refuse the client, among 190 who do not",
      results: [
        ...expectOneEach(companies.slice(0, 95), ...BEFORE_AN_END),
        ...expectOneEach(demanding, "unknown auth_or_tls_required"),
        ...expectOneEach(closed, "unknown recipient_restricted"),
        ...expectOneEach(companies.slice(95, 190), ...BEFORE_AN_END),
      ],
      atMost: { overLimit: 0 },
    },
    {
      shows: "60 customers behind a throttle, an address of each",
      isBlocked: "rate limited",
      results: expectOneEach(companies.slice(0, 60), "unknown rate_limited"),
    },
    {
      shows: "300 addresses of one customer",
      results: expectExisting(300, "company-007.google.example.com", "valid accepted"),
      atMost: { overLimit: 0 },
    },
  ],
};
