import { expectRefusal } from "./lists.ts";
import { always, type Receiver } from "./receiver.ts";

export const mailRu: Receiver = {
  id: "mail_ru",
  title: "Mail.ru, list.ru, inbox.ru, bk.ru",
  sources: [
    "250 Go ahead for random names: reacherhq/check-if-email-exists#1208, zytzagoo/smtp-validate-email#3 (2022-10)",
    "user is terminated: github.com, logs of Postfix (2026-11)",
  ],
  hosts: ["mxs.mail.ru"],
  greeting: "220 mxs.mail.ru ESMTP ready",
  extensions: ["SIZE 73400320", "8BITMIME", "PIPELINING"],
  mailboxes: always("250 Go ahead"),
  domains: [
    { name: "mail.ru" },
    { name: "list.ru" },
    { name: "inbox.ru" },
    { name: "bk.ru" },
    {
      name: "company.mail-ru.example.com",
      setting: "a company's own domain",
      mailboxes: {
        unknown:
          "550 Message was not accepted -- invalid mailbox.  Local mailbox {address} is unavailable: user not found",
        disabled:
          "550 Message was not accepted -- invalid mailbox.  Local mailbox {address} is unavailable: user is terminated",
      },
    },
  ],
  scenarios: [
    {
      shows: "every recipient is accepted, so that 250 proves nothing",
      results: ["mail.ru", "list.ru", "inbox.ru", "bk.ru"].flatMap((domain) => [
        [`ada.lovelace@${domain}`, "risky accept_then_bounce"] as const,
        [`unknown.person@${domain}`, "risky accept_then_bounce"] as const,
      ]),
    },
    {
      shows: "a company's domain",
      results: [
        ...expectRefusal("company.mail-ru.example.com"),
        ["disabled.person@company.mail-ru.example.com", "invalid mailbox_disabled"],
      ],
    },
  ],
};

export const yandex: Receiver = {
  id: "yandex",
  title: "Yandex",
  sources: [
    "reports on non-delivery to Yandex: https://www.yandex.com/support/mail/bounces/yandex.html (2026-11)",
    "Policy rejection on the target address: the account is blocked: https://yandex.com/support/mail/bounces/yandex/policy-rejection-on-the-target-address.html (2026-11)",
  ],
  hosts: ["mx.yandex.ru"],
  greeting:
    "220 mail-nwsmtp-mxfront-production-main-25.iva.yp-c.yandex.net ESMTP (Want to use Yandex.Mail for your domain? Visit http://pdd.yandex.ru) 1732276800-abc",
  extensions: ["8BITMIME", "PIPELINING", "SIZE 53477376", "DSN", "ENHANCEDSTATUSCODES"],
  mailboxes: {
    existing: "250 2.1.5 <{address}> recipient ok",
    unknown: "550 5.7.1 No such user! 1732276800-abc",
    full: "552 5.2.2 Mailbox size limit exceeded 1732276800-abc",
    disabled: "550 5.7.1 Policy rejection on the target address 1732276800-abc",
    busy: "451 4.5.1 The recipient <{address}> has exceeded their message rate limit. Try again later. 1732276800-abc",
  },
  domains: [{ name: "yandex.ru" }, { name: "company.yandex.example.com" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("yandex.ru"),
        ...expectRefusal("company.yandex.example.com"),
        ["full.mailbox@yandex.ru", "risky mailbox_full"],
      ],
    },
    {
      shows: "an account that Yandex has blocked",
      results: [["disabled.person@yandex.ru", "invalid mailbox_disabled"]],
    },
    {
      shows: "a mailbox that gets too much",
      results: [["busy.person@yandex.ru", "risky mailbox_rate_limited"]],
    },
  ],
};

export const rambler: Receiver = {
  id: "rambler",
  title: "Rambler",
  sources: ["540 with a word for the account: github.com, logs of Postfix (2026-11)"],
  notes: "The lab chose Postfix's words.",
  hosts: ["imx1.rambler.ru"],
  extensions: ["PIPELINING", "SIZE 104857600", "ENHANCEDSTATUSCODES", "8BITMIME"],
  mailboxes: {
    existing: "250 2.1.5 Ok",
    unknown: "550 5.7.1 <{address}>: Recipient address rejected: No such user",
    disabled: "540 5.7.1 <{address}>: recipient address rejected: Blocked",
  },
  domains: [{ name: "rambler.ru" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("rambler.ru"),
        ["disabled.person@rambler.ru", "invalid mailbox_disabled", "invalid mailbox_not_found"],
      ],
    },
  ],
};

export const iua: Receiver = {
  id: "i_ua",
  title: "i.ua",
  sources: [
    "an address of a page instead of words: sisimai/set-of-emails, lhost-postfix-61 (2026-11)",
  ],
  hosts: ["mx.i.ua"],
  extensions: ["PIPELINING", "SIZE 52428800", "8BITMIME"],
  mailboxes: {
    existing: "250 Ok",
    unknown: "550 See http://mail.i.ua/err/2/",
    disabled: "550 See http://mail.i.ua/err/3/",
    full: "550 See http://mail.i.ua/err/4/",
  },
  domains: [{ name: "i.ua" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("i.ua"),
        ["disabled.person@i.ua", "invalid mailbox_disabled"],
        ["full.mailbox@i.ua", "risky mailbox_full"],
      ],
    },
  ],
};
