import { expectExisting, expectRefusal, expectUnknown } from "./lists.ts";
import type { Receiver } from "./receiver.ts";

export const qq: Receiver = {
  id: "qq",
  title: "QQ, Tencent Exmail",
  sources: [
    "replies by code: https://smtp.codes/qq (2026-11)",
    'the spelling "denined": sisimai/p5-sisimai, Rhost/TencentQQ (2026-11)',
    "limits per minute, hour and day: http://qiao.yimirj.com/article/detail/2261 (2026-11)",
  ],
  notes: '"Mailbox unavailable or access denied" means that a mailbox gets too much mail.',
  hosts: ["mx1.qq.com", "mx2.qq.com"],
  greeting: "220 newxmmxszc6-10.qq.com MX QQ Mail Server.",
  extensions: ["8BITMIME", "SIZE 73400320"],
  mailboxes: {
    existing: "250 OK",
    unknown:
      "550 Mailbox not found. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000728",
    busy: "550 Mailbox unavailable or access denied [MPf7Mks9mtErD1Fu IP: {client}]",
  },
  blocks: [
    {
      stage: "rcpt",
      minutes: 60,
      afterUnknown: 20,
      reply:
        "550 Ip frequency limited [MPf7Mks9mtErD1Fu Blocked IP {client}]. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000725",
    },
  ],
  domains: [
    { name: "qq.com" },
    {
      name: "company.qq.example.com",
      hosts: ["mxbiz1.qq.com"],
      setting: "Exmail for companies",
      mailboxes: { busy: "550 Mailbox unavailable or access denined" },
    },
  ],
  scenarios: [
    {
      shows: "mailboxes",
      results: expectRefusal("qq.com"),
    },
    {
      shows: "a mailbox that gets too much, in both spellings",
      results: [
        ["busy.person@qq.com", "risky mailbox_rate_limited"],
        ["busy.person@company.qq.example.com", "risky mailbox_rate_limited"],
      ],
    },
    {
      shows: "60 names that do not exist: the block starts partway",
      results: expectUnknown(
        60,
        "qq.com",
        "invalid mailbox_not_found",
        "unknown rate_limited",
        "unknown ip_blocked",
      ),
    },
  ],
};

export const netease: Receiver = {
  id: "netease",
  title: "163, 126, yeah.net",
  sources: [
    "codes of returned mail, HL:REP for many missing recipients: https://biecuoliao.com/pa/MBRrwEM.html (2026-11)",
  ],
  hosts: ["163mx01.mxmail.netease.com", "163mx02.mxmail.netease.com"],
  greeting: "220 163.com Anti-spam GT for Coremail System (163com[20141201])",
  extensions: ["PIPELINING", "SIZE 73400320", "8BITMIME"],
  mailboxes: { existing: "250 Mail OK", unknown: "550 User not found: {address}" },
  limits: {
    recipientsPerSession: {
      most: 50,
      reply: "450 RP:DRC 163 zwqz-mx-mta-g0-1, please try again later",
    },
  },
  blocks: [
    {
      stage: "greeting",
      minutes: 120,
      afterUnknown: 20,
      reply:
        "421 HL:REP 163 zwqz-mx-mta-g0-1, http://mail.163.com/help/help_spam_16.htm?ip={client}&hostid=zwqz-mx-mta-g0-1",
    },
  ],
  domains: [{ name: "163.com" }, { name: "126.com", hosts: ["126mx01.mxmail.netease.com"] }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [...expectRefusal("163.com"), ...expectExisting(100, "126.com", "valid accepted")],
      atMost: { overLimit: 0 },
    },
    {
      shows: "60 names that do not exist: the service closes on the way",
      results: expectUnknown(
        60,
        "163.com",
        "invalid mailbox_not_found",
        "unknown ip_reputation",
        "unknown ip_blocked",
        "unknown rate_limited",
        "unknown server_error",
        "unknown directory_harvest",
        "unknown server_refuses",
      ),
    },
  ],
};

export const naver: Receiver = {
  id: "naver",
  title: "Naver",
  sources: [
    "550 5.1.1 No such user … nsmtp: your-digital-rights/yourdigitalrights.org#736 (2025-12)",
    "421 4.3.2 Your IP is filtered: https://puffinknight.tistory.com/102 (2026-11)",
  ],
  hosts: ["mx1.naver.com", "mx2.naver.com"],
  greeting: "220 crcvmail15.nm.naver.com ESMTP - nsmtp",
  extensions: ["SIZE 83886080", "8BITMIME", "PIPELINING", "ENHANCEDSTATUSCODES"],
  mailboxes: {
    existing: "250 2.1.5 OK - nsmtp",
    unknown:
      "550 5.1.1 No such user. For more information, go to https://help.naver.com/alias/mail/newmail10.naver YFIkhhfiSGCl2Nuynp4eNQ - nsmtp",
  },
  blocks: [
    {
      stage: "greeting",
      reply:
        "421 4.3.2 Your IP({client}) is filtered and this connection will be closed. You must register your IP to http://realip.naver.com",
    },
  ],
  domains: [{ name: "naver.com" }],
  scenarios: [
    { shows: "mailboxes", results: expectRefusal("naver.com") },
    {
      shows: "a client that is filtered",
      isBlocked: true,
      results: expectExisting(200, "naver.com", "unknown ip_blocked"),
    },
  ],
};

export const docomo: Receiver = {
  id: "docomo",
  title: "NTT docomo",
  sources: [
    "550 Unknown user, 552 Too much mail data: https://note.com/sendmagic/n/neb6bbe7e51cf (2026-11)",
    "since March 2025 Unknown user is always an unknown user: sisimai, Rhost/NTTDOCOMO (2025-03)",
  ],
  hosts: ["mfsmax.docomo.ne.jp"],
  greeting: "220 docomo.ne.jp SMTP Service Ready",
  extensions: ["SIZE 10485760"],
  offersTls: false,
  mailboxes: {
    existing: "250 Requested mail action okay, completed",
    unknown: "550 Unknown user {address}",
    full: "552 Too much mail data {address}",
  },
  domains: [{ name: "docomo.ne.jp" }],
  scenarios: [
    {
      shows: "mailboxes",
      results: [
        ...expectRefusal("docomo.ne.jp"),
        ["full.mailbox@docomo.ne.jp", "risky mailbox_full"],
      ],
    },
  ],
};
