import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { findMail } from "@mailproof/core/deliverability/mail-tests/items";
import { MAIL_LIMITS } from "@mailproof/local/mail-receiver/limits";
import { type MailReceiver, startMailReceiver } from "@mailproof/local/mail-receiver/mail-receiver";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { given } from "../app/given.ts";
import {
  findAbsentPackage,
  findObstacle,
  type Recipe,
  type Running,
  SERVERS,
  startServer,
} from "../mail-servers/sandbox.ts";
import { SERVICES } from "../mail-servers/signing-postfix.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { HOST } from "../servers/mail-servers.ts";
import { dial } from "../servers/smtp-client.ts";
import { whenTestCreated } from "../things/mail-tests.ts";

// Programs that send mail, and how each brings one to a receiver at the loopback. Their settings are their own;
// the mail is the same for all.

type SentMail = {
  readonly from: string;
  readonly to: string;
  /** Lines end with CRLF. */
  readonly raw: Buffer;
};

type SendingProgram = {
  readonly name: string;
  /** Why it cannot be run here; null where it can. */
  readonly absence: () => string | null;
  readonly usesUtf8: boolean;
  /** Sends to this port with STARTTLS, or never with it. */
  readonly start: (
    port: number,
    usesTls: boolean,
  ) => Promise<{
    readonly send: (mail: SentMail) => Promise<void>;
    readonly stop: () => Promise<void>;
  }>;
};

const run = async (
  file: string,
  args: readonly string[],
  { raw }: SentMail,
  env: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const child = spawn(file, args, { env: { PATH: process.env["PATH"], ...env } });
  const errorOutput = text(child.stderr);
  child.stdin.end(raw);
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${await errorOutput}`);
};

/** Runs once for each mail. */
const createCommand =
  (
    send: (port: number, usesTls: boolean, mail: SentMail) => Promise<void>,
  ): SendingProgram["start"] =>
  async (port, usesTls) => ({ send: (mail) => send(port, usesTls, mail), stop: async () => {} });

/** A relay: the mail is brought to it, and it brings the mail to the receiver when it likes. */
const createRelay =
  (recipe: (port: number, usesTls: boolean) => Recipe): SendingProgram["start"] =>
  async (receiverPort, usesTls) => {
    const relay: Running = await startServer(recipe(receiverPort, usesTls));
    return { send: (mail) => bring(relay.port, mail), stop: relay.stop };
  };

const bring = async (port: number, { from, to, raw }: SentMail): Promise<void> => {
  const client = await dial(HOST, port);
  await client.reply();
  const hello = await client.say("EHLO app.shop.example");
  const parameters = [
    ...(hello.includes("8BITMIME") ? ["BODY=8BITMIME"] : []),
    ...(hello.includes("SMTPUTF8") && /[^\0-\x7f]/.test(from) ? ["SMTPUTF8"] : []),
  ];
  const replies = [
    await client.say([`MAIL FROM:<${from}>`, ...parameters].join(" ")),
    await client.say(`RCPT TO:<${to}>`),
    await client.say("DATA"),
  ];
  client.send(stuff(raw));
  client.send(".\r\n");
  replies.push(await client.reply(30_000));
  client.close();
  if (!replies.at(-1)?.startsWith("250")) throw new Error(`not taken: ${replies.join(" | ")}`);
};

/** RFC 5321 §4.5.2. */
const stuff = (raw: Buffer): Buffer =>
  Buffer.from(raw.toString("latin1").replaceAll(/^\./gm, ".."), "latin1");

const formatMain = (receiverPort: number, usesTls: boolean) => `
compatibility_level = 3.6
maillog_file = /var/log/mail.log
myhostname = out.shop.example
inet_interfaces = 127.0.0.1
mynetworks = 127.0.0.0/8
mydestination =
relayhost = [127.0.0.1]:${receiverPort}
smtpd_relay_restrictions = permit_mynetworks, reject
smtp_dns_support_level = disabled
smtp_tls_security_level = ${usesTls ? "encrypt" : "none"}
`;

const formatMaster = (port: number) => `
127.0.0.1:${port} inet n - n - - smtpd
smtp unix - - n - - smtp
relay unix - - n - - smtp
${SERVICES}
`;

const createPostfix = (receiverPort: number, usesTls: boolean): Recipe => ({
  debian: "postfix",
  accounts: ["postfix", "postdrop"],
  files: (port) => ({
    "/etc/postfix/main.cf": formatMain(receiverPort, usesTls),
    "/etc/postfix/master.cf": formatMaster(port),
  }),
  start: () => `
chown postfix /var/lib/postfix
postfix start || { cat /var/log/mail.log; exit 1; }
`,
});

const createExim = (receiverPort: number, usesTls: boolean): Recipe => ({
  debian: "exim4-daemon-light",
  accounts: ["Debian-exim"],
  files: () => ({
    "/etc/exim4/exim4.conf": `
primary_hostname = out.shop.example
acl_smtp_rcpt = accept
acl_smtp_data = accept
smtputf8_advertise_hosts = *
message_size_limit = 50M

begin routers
onward:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = onward

begin transports
onward:
  driver = smtp
  port = ${receiverPort}
  hosts_avoid_tls = ${usesTls ? "" : "*"}
  hosts_require_tls = ${usesTls ? "*" : ""}
  tls_verify_certificates =
`,
  }),
  start: (port) => `
mkdir -p /var/spool/exim4 /var/log/exim4
chown -R Debian-exim:Debian-exim /var/spool/exim4 /var/log/exim4 /etc/mail-test
exim4 -bd -oX 127.0.0.1.${port} -oP "" &
`,
});

const createOpenSmtpd = (receiverPort: number, usesTls: boolean): Recipe => ({
  debian: "opensmtpd",
  accounts: ["opensmtpd", "opensmtpq"],
  files: (port) => ({
    "/etc/smtpd.conf": `
listen on 127.0.0.1 port ${port} hostname out.shop.example
action onward relay host ${usesTls ? "smtp" : "smtp+notls"}://127.0.0.1:${receiverPort} helo out.shop.example
match from any for any action onward
`,
  }),
  start: () => `
mkdir -p /var/lib/opensmtpd/empty
smtpd -d &
`,
});

const MSMTP = join(SERVERS, "msmtp/usr");

const SMTPLIB = `
import smtplib, ssl, sys
port, tls, sender, to = int(sys.argv[1]), sys.argv[2] == "tls", sys.argv[3], sys.argv[4]
context = ssl._create_unverified_context()
with smtplib.SMTP("127.0.0.1", port, local_hostname="out.shop.example") as smtp:
    if tls:
        smtp.starttls(context=context)
    smtp.ehlo()
    options = ["BODY=8BITMIME"] + ([] if sender.isascii() else ["SMTPUTF8"])
    smtp.sendmail(sender, [to], sys.stdin.buffer.read(), options)
`;

const hasPython = (): boolean => spawnSync("python3", ["-c", "import smtplib, ssl"]).status === 0;

const SENDING_PROGRAMS: readonly SendingProgram[] = [
  {
    name: "Postfix",
    absence: () => findObstacle({ debian: "postfix" }),
    usesUtf8: true,
    start: createRelay(createPostfix),
  },
  {
    name: "Exim",
    absence: () => findObstacle({ debian: "exim4-daemon-light" }),
    usesUtf8: true,
    start: createRelay(createExim),
  },
  {
    name: "OpenSMTPD",
    absence: () => findObstacle({ debian: "opensmtpd" }),
    usesUtf8: false,
    start: createRelay(createOpenSmtpd),
  },
  {
    name: "msmtp",
    absence: () => findAbsentPackage({ debian: "msmtp" }),
    usesUtf8: false,
    start: createCommand((port, usesTls, mail) =>
      run(
        join(MSMTP, "bin/msmtp"),
        [
          `--host=${HOST}`,
          `--port=${port}`,
          "--domain=out.shop.example",
          `--from=${mail.from}`,
          "--auth=off",
          ...(usesTls ? ["--tls=on", "--tls-starttls=on", "--tls-certcheck=off"] : ["--tls=off"]),
          mail.to,
        ],
        mail,
        {
          LD_LIBRARY_PATH: globSync(join(MSMTP, "lib/*-linux-gnu")).join(":"),
          HOME: "/nonexistent",
        },
      ),
    ),
  },
  {
    name: "Python's smtplib",
    absence: () => (hasPython() ? null : "there is no python3"),
    usesUtf8: true,
    start: createCommand((port, usesTls, mail) =>
      run(
        "python3",
        ["-c", SMTPLIB, String(port), usesTls ? "tls" : "plain", mail.from, mail.to],
        mail,
      ),
    ),
  },
];

// What mail servers and programs send arrives as it was sent, byte by byte, with TLS and without.

const MAIL_DOMAIN = "mail.example.com";

const BODIES: readonly (readonly [name: string, body: Buffer])[] = [
  ["a short text", Buffer.from("Hello Bob,\r\n\r\nbye.\r\n")],
  ["lines of dots", Buffer.from(".\r\n..\r\n...x\r\n.x\r\n\r\n.\r\n")],
  ["a text of 8 bits", Buffer.from("Gr\u00fc\u00dfe aus K\u00f6ln\r\n\u{1f600}\r\n")],
  ["lines of 998 octets", Buffer.from(`${"x".repeat(998)}\r\n`.repeat(20))],
  ["three megabytes", Buffer.from(`${"0123456789abcdef".repeat(4)}\r\n`.repeat(48_000))],
  ["line ends alone", Buffer.from("\r\n\r\n\r\n")],
];

const writeMail = (body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(
      "From: Ann <news@shop.example>\r\nTo: bob@example.net\r\nSubject: Hello\r\nDate: Sat, 21 Nov 2026 00:00:00 +0000\r\nMessage-ID: <1@shop.example>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n",
    ),
    body,
  ]);

for (const program of SENDING_PROGRAMS)
  for (const usesTls of [true, false])
    describeUnless(
      program.absence(),
      `${program.name}, ${usesTls ? "with TLS" : "without TLS"}`,
      () => {
        let ctx: Awaited<ReturnType<typeof given>>;
        let receiver: MailReceiver;
        let sender: Awaited<ReturnType<typeof program.start>>;
        beforeAll(async () => {
          ctx = await given({ balance: 1_000 });
          const options = { MAIL_PORT: 0, MAIL_HOST: HOST, MAIL_TLS_FILE: undefined };
          receiver = await startMailReceiver(ctx.world, MAIL_DOMAIN, options, MAIL_LIMITS);
          sender = await program.start(receiver.port, usesTls);
        });
        afterAll(async () => {
          await sender.stop();
          await receiver.stop();
        });

        const send = async (mail: Omit<SentMail, "to">) => {
          const { data } = await whenTestCreated(ctx.world, ctx.liveKey);
          await sender.send({ ...mail, to: data.address });
          const stored = await vi.waitFor(
            async () => {
              const found = await findMail(ctx.world.table, data.test_id);
              if (!found) throw new Error("no mail arrived");
              return found;
            },
            { timeout: 60_000, interval: 50 },
          );
          const found = await ctx.blobs.get(stored.blob);
          const raw = Buffer.concat(found ? await Array.fromAsync(found.content) : []);
          return { stored, body: raw.subarray(raw.indexOf("\r\n\r\n") + 4) };
        };

        test.each(BODIES)("the service receives %s unchanged", async (_, body) => {
          const { stored, body: arrived } = await send({
            from: "bounce@shop.example",
            raw: writeMail(body),
          });

          expect(arrived.equals(body)).toBe(true);
          expect(stored).toMatchObject({
            mailFrom: "bounce@shop.example",
            helo: "out.shop.example",
            ip: HOST,
          });
          const { tls } = stored;
          expect(typeof tls === "object" ? tls.version : tls).toBe(usesTls ? "TLSv1.3" : undefined);
        });

        test.each(program.usesUtf8 ? ["gr\u00fc\u00dfe@shop.example"] : [])(
          "the service receives the sender %s unchanged",
          async (from) => {
            const { stored } = await send({ from, raw: writeMail(Buffer.from("Hello\r\n")) });

            expect(stored.mailFrom).toBe(from);
          },
        );
      },
    );
