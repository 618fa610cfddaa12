import { type AddressInfo, createServer, type Socket } from "node:net";
import { queueLetters } from "@mailproof/core/mails/week";
import { invite } from "@mailproof/core/people/invitations";
import { toPersonKey } from "@mailproof/core/people/items";
import { MAIL_LIMITS } from "@mailproof/local/mail-receiver/limits";
import { startMailReceiver } from "@mailproof/local/mail-receiver/mail-receiver";
import { createMailer } from "@mailproof/net/mailer";
import { afterEach, describe, expect, test } from "vitest";
import { withDnsLookups } from "../app/dns-lookups.ts";
import { whenWorked } from "../app/drain-queues.ts";
import { dial } from "../servers/smtp-client.ts";
import { whenBatched } from "../things/jobs.ts";
import { readTest, whenTestCreated } from "../things/mail-tests.ts";
import { createRsa, sign } from "../things/mails.ts";
import {
  givenMailed,
  givenMails,
  LOW,
  type MailContext,
  whenEvent,
} from "../things/people-mails.ts";
import { uploadReport } from "../things/reports.ts";

const HOST = "127.0.0.1";
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

type Replies = Readonly<Record<string, string>>;

/** A relay of few words: it answers each command, and hands over each mail. */
const startRelay = async (
  onMail: (raw: string, to: string) => Promise<void> | void = () => undefined,
  replies: Replies = {},
): Promise<string> => {
  const serve = (socket: Socket) => {
    let [text, to, isContent] = ["", "", false];
    const say = (line: string) => socket.write(`${line}\r\n`);
    const answer = (line: string): void => {
      const [verb = ""] = line.toUpperCase().split(/[ :]/);
      if (verb === "RCPT") to = /<(.*)>/.exec(line)?.[1] ?? "";
      isContent = verb === "DATA" && !replies["DATA"];
      say(replies[verb] ?? (isContent ? "354 Go on" : "250 2.0.0 Ok"));
      if (verb === "QUIT") socket.end();
    };
    const read = async (): Promise<void> => {
      for (;;) {
        const end = isContent ? text.indexOf("\r\n.\r\n") : text.indexOf("\r\n");
        if (end < 0) return;
        const piece = text.slice(0, end);
        text = text.slice(end + (isContent ? 5 : 2));
        if (!isContent) answer(piece);
        else {
          isContent = false;
          await onMail(`${piece.replaceAll(/^\./gm, "")}\r\n`, to);
          say(replies["."] ?? "250 2.0.0 Ok queued as 7");
        }
      }
    };
    let reading = Promise.resolve();
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      reading = reading.then(read);
    });
    say("220 relay.example ESMTP");
  };
  const server = createServer(serve);
  await new Promise<void>((resolve) => void server.listen(0, HOST, resolve));
  open.push(() => server.close());
  return `smtp://${HOST}:${(server.address() as AddressInfo).port}`;
};

const MAIL = {
  from: "notices@mailproof.example",
  to: "ada@people.example",
  subject: "Hello",
  text: "Hello.\n",
  html: "<p>Hello.</p>\n",
  messageId: "<mail_1@mailproof.example>",
  date: new Date("2026-11-21T00:00:00.000Z"),
  fields: { "Auto-Submitted": "auto-generated" },
};

describe("the mailer", () => {
  test("hands a mail to the relay, and returns the relay's answer", async () => {
    const received: string[] = [];
    const url = await startRelay((raw) => void received.push(raw));

    expect(await createMailer(url).send(MAIL)).toEqual({
      kind: "sent",
      reply: "250 2.0.0 Ok queued as 7",
    });
    const [raw] = received;
    expect(raw).toContain("From: Mailproof <notices@mailproof.example>\r\n");
    expect(raw).toContain("To: ada@people.example\r\n");
    expect(raw).toContain("Message-ID: <mail_1@mailproof.example>\r\n");
    expect(raw).toContain("Auto-Submitted: auto-generated\r\n");
  });

  test("writes no header field that a subject or an address tries to add", async () => {
    const received: string[] = [];
    const url = await startRelay((raw) => void received.push(raw));
    const attack = "x\r\nBcc: eve@evil.example\r\n\r\n";

    await createMailer(url).send({ ...MAIL, subject: attack, fields: { "List-Id": attack } });
    await createMailer(url).send({ ...MAIL, to: `ada@people.example${attack}` });

    expect(received.length).toBeGreaterThan(0);
    for (const raw of received) expect(raw).not.toMatch(/^Bcc:/im);
  });

  test.each([
    ["refuses the recipient", { RCPT: "550 5.1.1 No such user" }, "refused"],
    ["refuses the content", { ".": "554 5.7.1 Spam" }, "refused"],
    ["is busy", { RCPT: "451 4.7.1 Later" }, "failed"],
    ["does not accept its sender", { MAIL: "553 5.7.1 Not verified" }, "failed"],
    ["closes the connection", { EHLO: "421 4.3.2 Closing", HELO: "421 4.3.2 Closing" }, "failed"],
  ] as const)("reports when the relay %s", async (_, replies, kind) => {
    const url = await startRelay(undefined, replies);

    expect(await createMailer(url).send(MAIL)).toMatchObject({ kind });
  });

  test("leaves a relay that sends a line now and then and never ends its answer", async () => {
    const server = createServer((socket) => {
      socket.write("220 relay.example ESMTP\r\n");
      const timer = setInterval(() => socket.write("250-wait\r\n"), 20);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => void server.listen(0, HOST, resolve));
    open.push(() => server.close());
    const url = `smtp://${HOST}:${(server.address() as AddressInfo).port}`;

    expect(await createMailer(url, 300).send(MAIL)).toMatchObject({ kind: "failed" });
  });

  test("reports a relay that is down as a failure that may pass", async () => {
    expect(await createMailer("smtp://127.0.0.1:1").send(MAIL)).toMatchObject({ kind: "failed" });
  });
});

const KEY = createRsa(2048);
const DOMAIN = "mailproof.example";
const ZONE = {
  [DOMAIN]: {
    MX: [`10 mx.${DOMAIN}`],
    NS: ["ns1.example.net", "ns2.example.net"],
    TXT: [`v=spf1 ip4:${HOST} -all`],
  },
  [`mx.${DOMAIN}`]: { A: ["8.8.8.8"] },
  [`s1._domainkey.${DOMAIN}`]: { TXT: [KEY.record] },
  [`_dmarc.${DOMAIN}`]: { TXT: [`v=DMARC1; p=reject; rua=mailto:d@${DOMAIN}`] },
  "1.0.0.127.in-addr.arpa": { PTR: [`out.${DOMAIN}`] },
  [`out.${DOMAIN}`]: { A: [HOST], TXT: [`v=spf1 ip4:${HOST} -all`] },
};

/** The product's own receiver behind a relay that signs with DKIM, as an operator's does. */
const startLoop = async (ctx: MailContext): Promise<string> => {
  const options = { MAIL_PORT: 0, MAIL_HOST: HOST, MAIL_TLS_FILE: undefined };
  const receiver = await startMailReceiver(ctx.world, "mail.example.com", options, MAIL_LIMITS);
  open.push(receiver.stop);
  return startRelay(async (raw, to) => {
    const signed = await sign(raw, {
      key: KEY,
      domain: DOMAIN,
      signTime: ctx.world.now(),
    });
    const client = await dial(HOST, receiver.port);
    await client.reply();
    await client.say(`EHLO out.${DOMAIN}`);
    await client.say("STARTTLS");
    await client.startTls();
    await client.say(`EHLO out.${DOMAIN}`);
    await client.say(`MAIL FROM:<bounce@${DOMAIN}>`);
    await client.say(`RCPT TO:<${to}>`);
    await client.say("DATA");
    client.send(Buffer.from(`${signed.replaceAll(/^\./gm, "..")}.\r\n`, "latin1"));
    expect(await client.reply()).toMatch(/^250 /);
    client.close();
  });
};

const DMARC = {
  domain: "shop.example",
  check_id: null,
  status: "missing",
  policy: null,
  issues: [],
};
const REPORT = { reporter: "r", report_id: "1", day: "2026-11-20", messages: 7, unaligned: 2 };
const LISTED = { domain: "shop.example", sending_ip: null, check_id: "txn_1", listed_on: ["bl"] };

/** From the start of a test, a Saturday, to 07:00 on Monday. */
const TO_MONDAY_MS = 55 * 3_600_000;

type Happening = (ctx: MailContext, address: string) => Promise<unknown>;

/** What causes each mail. */
const MAILS: readonly (readonly [mail: string, happen: Happening])[] = [
  ["low credits", (ctx) => whenEvent(ctx, "credits.low", LOW)],
  ["depleted credits", (ctx) => whenEvent(ctx, "credits.depleted", LOW)],
  ["a blocklist", (ctx) => whenEvent(ctx, "blacklist.detected", LISTED)],
  ["a DMARC record", (ctx) => whenEvent(ctx, "dmarc.failed", DMARC)],
  ["unaligned mail", (ctx) => whenEvent(ctx, "dmarc.failed", { ...DMARC, report: REPORT })],
  [
    "a list",
    ({ world, liveKey }) => whenBatched(world, liveKey, { emails: ["a@x.com", "b@x.com"] }),
  ],
  [
    "a week",
    async (ctx) => {
      await uploadReport(ctx.world, ctx.liveKey, { daysBefore: 4 });
      await queueLetters.run(ctx.world);
    },
  ],
  [
    "an invitation",
    async (ctx, email) => {
      await ctx.table.write({ remove: toMembersKey(ctx) });
      const role = { role: "admin", kind: "member", invitedBy: null } as const;
      await invite(ctx.world, { ...role, account: ctx.account, email });
    },
  ],
];

const toMembersKey = ({ account }: MailContext) => ({ pk: `MEMBERS#${account}`, sk: "person_1" });

test.each(MAILS)(
  "the product's own mail test finds no fault of ours in the mail about %s",
  async (mail, happen) => {
    const made = await givenMails();
    const world = withDnsLookups(made.world, ZONE);
    const url = await startLoop({ ...made, world });
    const ctx = { ...made, world: { ...world, mailer: createMailer(url) } };
    await givenMailed(ctx, "ada");
    ctx.later(TO_MONDAY_MS);
    const { data } = await whenTestCreated(world, ctx.liveKey);
    const person = { update: toPersonKey("person_1"), set: { email: data.address } };
    await ctx.table.write(person);

    await happen(ctx, data.address);
    // The mail is sent last, and then assessed.
    await whenWorked(ctx);
    await whenWorked(ctx);

    const { report } = (await readTest(world, ctx.liveKey, data.test_id)).data;
    // Receivers ask for List-Unsubscribe only in mail that the recipient did not cause.
    const faults = mail === "an invitation" ? ["UNSUBSCRIBE_MISSING"] : [];
    expect(report).toMatchObject({
      findings: faults.map((id) => ({ id })),
      dmarc: { result: "pass" },
      dkim: [{ result: "pass" }],
    });
  },
);
