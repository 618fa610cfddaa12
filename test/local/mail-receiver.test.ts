import { X509Certificate } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { findMail } from "@mailproof/core/deliverability/mail-tests/items";
import { MAIL_LIMITS, type MailLimits } from "@mailproof/local/mail-receiver/limits";
import {
  createSelfSigned,
  type MailReceiver,
  startMailReceiver,
} from "@mailproof/local/mail-receiver/mail-receiver";
import { afterEach, expect, test } from "vitest";
import { withTable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { type Client, dial } from "../servers/smtp-client.ts";
import { readTest, whenMailArrives, whenTestCreated } from "../things/mail-tests.ts";
import {
  createDailyReport,
  createReportMail,
  readReportsAddress,
  toReceived,
} from "../things/reports.ts";

// Clients of few words, over real sockets.

const HOST = "127.0.0.1";
const DOMAIN = "mail.example.com";
const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

type Context = Awaited<ReturnType<typeof given>>;

const start = async (
  { world }: Pick<Context, "world">,
  limits: Partial<MailLimits> = {},
): Promise<MailReceiver> => {
  const options = { MAIL_PORT: 0, MAIL_HOST: HOST, MAIL_TLS_FILE: undefined };
  const receiver = await startMailReceiver(world, DOMAIN, options, { ...MAIL_LIMITS, ...limits });
  open.push(receiver.stop);
  return receiver;
};

const dialTo = async ({ port }: MailReceiver): Promise<Client> => {
  const client = await dial(HOST, port);
  open.push(client.close);
  return client;
};

/** A receiver with one open test, and a client that was greeted. */
const setup = async (limits: Partial<MailLimits> = {}) => {
  const ctx = await given({ balance: 100 });
  const { data } = await whenTestCreated(ctx.world, ctx.liveKey);
  const receiver = await start(ctx, limits);
  const client = await dialTo(receiver);
  expect(await client.reply()).toBe(`220 ${DOMAIN} ESMTP`);
  return { ...ctx, receiver, client, address: data.address, id: data.test_id };
};

const readStored = async ({ world, blobs, id }: Context & { id: string }) => {
  const mail = await findMail(world.table, id);
  const found = mail && (await blobs.get(mail.blob));
  const raw = found && Buffer.concat(await Array.fromAsync(found.content)).toString("latin1");
  return { mail, raw };
};

const readStatus = async ({ world, liveKey, id }: Context & { id: string }) =>
  (await readTest(world, liveKey, id)).data.status;

/** Up to the go-ahead for the content. */
const begin = async (client: Client, address: string) => {
  await client.say("EHLO out.shop.example");
  await client.say("MAIL FROM:<news@shop.example>");
  await client.say(`RCPT TO:<${address}>`);
  expect(await client.say("DATA")).toMatch(/^354 /);
};

test("the receiver accepts a mail by RFC 5321 and stores it unchanged with its envelope", async () => {
  const ctx = await setup();
  const { client, address } = ctx;

  expect(await client.say("EHLO out.shop.example")).toBe(
    [
      `250-${DOMAIN}`,
      "250-PIPELINING",
      "250-SIZE 10000000",
      "250-STARTTLS",
      "250-ENHANCEDSTATUSCODES",
      "250-8BITMIME",
      "250 SMTPUTF8",
    ].join("\r\n"),
  );
  expect(await client.say("MAIL FROM:<news@shop.example> SIZE=100 BODY=8BITMIME SMTPUTF8")).toBe(
    "250 2.1.0 Sender OK",
  );
  expect(await client.say(`rcpt to:<${address.toUpperCase()}>`)).toBe("250 2.1.5 Recipient OK");
  expect(await client.say("DATA")).toMatch(/^354 /);
  client.send("Subject: Grüße\r\n\r\n..dot\r\n...\r\n.x\r\n\r\n.\r\n");
  expect(await client.reply()).toBe("250 2.0.0 The message is stored");
  expect(await client.say("QUIT")).toBe("221 2.0.0 Bye");

  const { mail, raw } = await readStored(ctx);
  expect(raw).toBe(Buffer.from("Subject: Grüße\r\n\r\n.dot\r\n..\r\nx\r\n\r\n").toString("latin1"));
  expect(mail).toMatchObject({
    mailFrom: "news@shop.example",
    helo: "out.shop.example",
    ip: HOST,
    receivedAt: "2026-11-21T00:00:00.000Z",
  });
  expect(mail).not.toHaveProperty("tls");
  expect(await readStatus(ctx)).toBe("assessing");
});

test("the receiver restarts the session after STARTTLS and stores the mail with version and cipher", async () => {
  const ctx = await setup();
  const { client, address } = ctx;
  await client.say("EHLO out.shop.example");
  await client.say("MAIL FROM:<attacker@shop.example>");

  expect(await client.say("STARTTLS")).toMatch(/^220 /);
  await client.startTls();

  expect(await client.say(`RCPT TO:<${address}>`)).toMatch(/^503 /);
  expect(await client.say("MAIL FROM:<news@shop.example>")).toMatch(/^503 5.5.1 Send EHLO/);
  expect(await client.say("EHLO out.shop.example")).not.toContain("STARTTLS");
  expect(await client.say("STARTTLS")).toMatch(/^503 /);
  await begin(client, address);
  client.send("x\r\n.\r\n");
  expect(await client.reply()).toMatch(/^250 /);
  expect((await readStored(ctx)).mail).toMatchObject({
    mailFrom: "news@shop.example",
    tls: { version: "TLSv1.3", cipher: expect.stringMatching(/^TLS_/) },
  });
});

test("the receiver drops clear text behind STARTTLS", async () => {
  const { client } = await setup();
  await client.say("EHLO out.shop.example");

  client.send("STARTTLS\r\nEHLO attacker.example\r\nMAIL FROM:<attacker@shop.example>\r\n");
  expect(await client.reply()).toMatch(/^220 /);
  await client.startTls();

  expect(await client.say("NOOP")).toBe("250 2.0.0 OK");
  expect(await client.say("MAIL FROM:<news@shop.example>")).toMatch(/^503 5.5.1 Send EHLO/);
});

test("the receiver answers pipelined commands in order", async () => {
  const { client, address } = await setup();

  client.send(
    [
      "EHLO out.shop.example",
      "MAIL FROM:<>",
      "RCPT TO:<ann@other.example>",
      `RCPT TO:<test-0@${DOMAIN}>`,
      `RCPT TO:<${address}>`,
      `RCPT TO:<${address}>`,
      "RSET",
      "NOOP",
      "VRFY ann",
      "QUIT",
      "",
    ].join("\r\n"),
  );

  const replies: string[] = [];
  for (let count = 0; count < 10; count++) replies.push((await client.reply()).slice(0, 9));
  expect(replies).toEqual([
    "250-mail.",
    "250 2.1.0",
    "550 5.7.1",
    "550 5.1.1",
    "250 2.1.5",
    "452 4.5.3",
    "250 2.0.0",
    "250 2.0.0",
    "252 2.5.2",
    "221 2.0.0",
  ]);
  expect(await client.reply()).toBe("");
});

test("the receiver ends the session when content precedes its go-ahead, and ignores the content", async () => {
  const { client, address, ...ctx } = await setup();
  await client.say("EHLO out.shop.example");
  await client.say("MAIL FROM:<news@shop.example>");
  await client.say(`RCPT TO:<${address}>`);

  client.send("DATA\r\nSubject: x\r\n\r\nx\r\n.\r\n");

  expect(await client.reply()).toMatch(/^503 5.5.0 /);
  expect(await client.reply()).toBe("");
  expect(await readStatus(ctx)).toBe("waiting");
});

test.each([
  ["a LF in front of the dot", "x\n.\r\n"],
  ["a LF on both sides of the dot", "x\n.\n"],
  ["a CR in front of the dot", "x\r.\r\n"],
  ["a LF behind the dot", "x\r\n.\n"],
  ["a CR on both sides of the dot", "x\r.\r"],
  ["a CR and a LF the wrong way", "x\n\r.\r\n"],
  ["a zero in front of the LF", "x\r\0\n.\r\n"],
  ["a CR behind the dot", "x\r\n.\r"],
  ["a CR in front of the dot and a LF behind it", "x\r.\n"],
])("the receiver refuses a smuggled message end: %s", async (_, end) => {
  const { client, address, ...ctx } = await setup();
  await begin(client, address);

  client.send(`${end}MAIL FROM:<smuggled@shop.example>\r\nRCPT TO:<${address}>\r\nDATA\r\n`);
  expect(await client.reply(100)).toBe("…");
  client.send("y\r\n.\r\n");

  expect(await client.reply()).toMatch(/^554 5.6.0 /);
  expect(await client.say("NOOP")).toMatch(/^250 /);
  expect(await readStatus(ctx)).toBe("waiting");
});

test("the receiver ends the session at a command with a bare LF", async () => {
  const { client } = await setup();

  client.send("EHLO out.shop.example\nMAIL FROM:<smuggled@shop.example>\r\n");

  expect(await client.reply()).toMatch(/^500 5.5.2 /);
  expect(await client.reply()).toBe("");
});

test("the receiver accepts a mail that arrives byte by byte", async () => {
  const ctx = await setup();
  const { client, address } = ctx;
  await begin(client, address);

  for (const byte of Buffer.from("a\r\n..\r\n\r\nb\r\n.\r\n")) {
    client.send(Buffer.from([byte]));
    await sleep(1);
  }

  expect(await client.reply()).toMatch(/^250 /);
  expect((await readStored(ctx)).raw).toBe("a\r\n.\r\n\r\nb\r\n");
});

test("the receiver stores a message of a single dot as empty", async () => {
  const ctx = await setup();
  await begin(ctx.client, ctx.address);

  ctx.client.send(".\r\n");

  expect(await ctx.client.reply()).toMatch(/^250 /);
  expect((await readStored(ctx)).raw).toBe("");
});

test("the receiver reads an oversized message to its end and refuses it, also by its declared size", async () => {
  const ctx = await setup({ messageBytesMax: 100_000 });
  const { client, address } = ctx;
  await client.say("EHLO out.shop.example");
  expect(await client.say("MAIL FROM:<news@shop.example> SIZE=100001")).toMatch(/^552 5.3.4 /);
  await begin(client, address);

  for (let sent = 0; sent < 40; sent++) client.send(`${"x".repeat(9_998)}\r\n`);
  client.send(".\r\n");

  expect(await client.reply()).toMatch(/^552 5.3.4 /);
  expect(await client.say("RSET")).toMatch(/^250 /);
  expect(await readStatus(ctx)).toBe("waiting");
  await begin(client, address);
  client.send(`${"x".repeat(99_998)}\r\n.\r\n`);
  expect(await client.reply()).toMatch(/^250 /);
  expect((await readStored(ctx)).raw).toHaveLength(100_000);
});

test("the receiver answers 451 and logs a failure of ours, and accepts the mail at the next attempt", async () => {
  const ctx = await given({ balance: 10 });
  const { data } = await whenTestCreated(ctx.world, ctx.liveKey);
  let isBroken = true;
  const world = withTable(ctx, {
    get: (key) => (isBroken ? Promise.reject(new Error("down")) : ctx.table.get(key)),
    transact: (writes) =>
      isBroken ? Promise.resolve({ outcome: "ambiguous" }) : ctx.table.transact(writes),
  });
  const client = await dialTo(await start({ world }));
  await client.reply();
  await client.say("EHLO out.shop.example");
  await client.say("MAIL FROM:<news@shop.example>");

  expect(await client.say(`RCPT TO:<${data.address}>`)).toMatch(/^451 4.3.0 /);
  isBroken = false;
  expect(await client.say(`RCPT TO:<${data.address}>`)).toMatch(/^250 /);
  isBroken = true;
  await client.say("DATA");
  client.send("x\r\n.\r\n");
  expect(await client.reply()).toMatch(/^451 4.3.0 /);
  isBroken = false;
  await begin(client, data.address);
  client.send("x\r\n.\r\n");
  expect(await client.reply()).toMatch(/^250 /);
  expect(ctx.logged.map(({ event }) => event)).toEqual(["mail_deferred", "mail_deferred"]);
});

test("an address of a mail test accepts one mail within its hour", async () => {
  const ctx = await setup();
  const { client, address } = ctx;
  await begin(client, address);
  client.send("x\r\n.\r\n");
  await client.reply();
  const { data: late } = await whenTestCreated(ctx.world, ctx.liveKey);
  ctx.later(3_600_000);

  await client.say("MAIL FROM:<news@shop.example>");
  expect(await client.say(`RCPT TO:<${address}>`)).toMatch(/^550 5.2.1 /);
  expect(await client.say(`RCPT TO:<${late.address}>`)).toMatch(/^550 5.1.1 The address has/);
  expect(await client.say("DATA")).toMatch(/^554 5.5.1 /);
});

test("a mail with a report answers 250 when stored, 554 without a report, and 452 when there are too many", async () => {
  const ctx = await setup();
  const { client } = ctx;
  const address = await readReportsAddress(ctx.world, ctx.liveKey);
  await begin(client, address);
  client.send(`${createReportMail([{ content: gzipSync(createDailyReport()) }])}.\r\n`);
  expect(await client.reply()).toMatch(/^250 /);
  await begin(client, address);
  client.send("Subject: Hello\r\n\r\nHello.\r\n.\r\n");
  expect(await client.reply()).toMatch(/^554 5.6.0 .* no DMARC or TLS report/);

  // Of a minute: 25 MB, of which each mail takes at least 100 KB. While DNS was asked about the first one, its part came back.
  for (let sent = 1; sent <= 250; sent++)
    await whenMailArrives(ctx.world, address, toReceived("Subject: x"));
  await begin(client, address);
  client.send("Subject: Hello\r\n\r\nHello.\r\n.\r\n");
  expect(await client.reply()).toMatch(/^452 4.2.1 /);
  expect(ctx.table.items().filter(({ pk }) => pk.includes("REPORTS#"))).toHaveLength(1);
});

test.each([
  ["MAIL FROM:<a@b.example>", /^503 5.5.1 Send EHLO/],
  ["EHLO", /^501 /],
  ["STARTTLS now", /^501 /],
  ["BDAT 5 LAST", /^500 5.5.1 /],
  ["AUTH PLAIN", /^500 5.5.1 /],
  ["", /^500 5.5.1 /],
  ["\0\x80", /^500 5.5.1 /],
  ["HELP", /^214 /],
  ["HELO out.shop.example", /^250 mail/],
] as const)("the receiver answers %s before a greeting", async (line, reply) => {
  const { client } = await setup();

  expect(await client.say(line)).toMatch(reply);
});

test.each([
  ["MAIL FROM:a@b.example", /^501 5.1.7 /],
  ["MAIL FROM:<a@b.example", /^501 5.1.7 /],
  ["MAIL FROM:<ab.example>", /^501 5.1.7 /],
  ["MAIL TO:<a@b.example>", /^501 5.1.7 /],
  ["MAIL FROM:<a@b.example> SIZE=x", /^555 /],
  ["MAIL FROM:<a@b.example> BODY=BINARYMIME", /^555 /],
  ["MAIL FROM:<a@b.example> RET=FULL", /^555 /],
  ["MAIL FROM:<@relay.example:a@b.example>", /^250 /],
  ['MAIL FROM:<"a b>"@b.example>', /^250 /],
  ["MAIL FROM:<ü@b.example> SMTPUTF8", /^250 /],
  ["RCPT TO:<a@b.example>", /^503 /],
  ["DATA", /^503 /],
] as const)("the receiver answers %s after a greeting", async (line, reply) => {
  const { client } = await setup();
  await client.say("EHLO out.shop.example");

  expect(await client.say(line)).toMatch(reply);
});

test("the receiver ends the session at a line that is too long, with or without its end", async () => {
  const { receiver, client } = await setup();
  client.send("x".repeat(5_000));
  expect(await client.reply()).toMatch(/^500 5.5.6 /);

  const other = await dialTo(receiver);
  await other.reply();
  other.send(`NOOP ${"x".repeat(5_000)}\r\n`);
  expect(await other.reply()).toMatch(/^500 5.5.6 /);
  expect(await other.reply()).toBe("");
});

test("the receiver ends the session of a client with too many useless commands", async () => {
  const { client } = await setup({ uselessCommandsMax: 3 });

  for (let count = 0; count < 3; count++) expect(await client.say("NOOP")).toMatch(/^250 /);

  expect(await client.say("NOOP")).toMatch(/^421 4.7.0 /);
  expect(await client.reply()).toBe("");
});

test("the receiver limits connections in total, per network, and per network and minute", async () => {
  const perIp = await setup({ connectionsPerNetworkMax: 2 });
  await (await dialTo(perIp.receiver)).reply();
  expect(await (await dialTo(perIp.receiver)).reply()).toMatch(/^421 4.7.0 /);

  const inAll = await setup({ connectionsMax: 1 });
  expect(await (await dialTo(inAll.receiver)).reply()).toMatch(/^220 /);
  expect(await inAll.client.reply()).toMatch(/^421 4.3.2 /);

  const perMinute = await setup({ connectionsPerNetworkMinuteMax: 1 });
  await perMinute.client.say("QUIT");
  expect(await (await dialTo(perMinute.receiver)).reply()).toMatch(/^421 4.7.0 /);
  perMinute.later(60_000);
  expect(await (await dialTo(perMinute.receiver)).reply()).toMatch(/^220 /);
});

test("the receiver ends the session of a client that is silent or too slow in total", async () => {
  const silent = await setup({ idleMs: 50 });
  expect(await silent.client.reply()).toMatch(/^421 4.4.2 /);

  const slow = await setup({ sessionMs: 200 });
  await begin(slow.client, slow.address);
  const writing = setInterval(() => slow.client.send("x"), 20);
  expect(await slow.client.reply()).toMatch(/^421 4.4.2 /);
  clearInterval(writing);
});

test("a client that hangs up inside a message leaves nothing behind", async () => {
  const ctx = await setup();
  await begin(ctx.client, ctx.address);

  ctx.client.send("Subject: half\r\n");
  ctx.client.close();
  await sleep(50);

  expect(await readStatus(ctx)).toBe("waiting");
  expect(ctx.blobs.keys()).toEqual([]);
});

test("the receiver stops serving a client that reads no reply until the client reads", async () => {
  const { receiver } = await setup({ uselessCommandsMax: 1_000_000, idleMs: 5_000 });
  const socket = connect({ host: HOST, port: receiver.port });
  open.push(() => void socket.destroy());
  socket.pause();
  const flood = Buffer.from("HELP\r\n".repeat(10_000));
  let isFull = false;
  for (let sent = 0; sent < 1_000 && !isFull; sent++) {
    isFull = !socket.write(flood) && socket.writableLength > 2_000_000;
    await sleep(1);
  }

  expect(isFull).toBe(true);
});

test("a stop interrupts sessions, and the receiver does not accept a message under way", async () => {
  const { receiver, client, address, ...ctx } = await setup();
  await begin(client, address);
  client.send("x\r\n");

  const stopped = receiver.stop();

  expect(await client.reply()).toMatch(/^421 4.3.2 /);
  await stopped;
  expect(await readStatus(ctx)).toBe("waiting");
});

test("createSelfSigned returns a certificate that is valid for this name and this time", () => {
  const now = new Date("2026-11-21T00:00:00Z");

  const { cert, key } = createSelfSigned(DOMAIN, now);
  const read = new X509Certificate(cert);

  expect(read.subject).toBe(`CN=${DOMAIN}`);
  expect(read.checkHost(DOMAIN)).toBe(DOMAIN);
  expect(read.verify(read.publicKey)).toBe(true);
  expect(read.validFromDate <= now && read.validToDate > now).toBe(true);
  expect(key).toContain("PRIVATE KEY");
});
