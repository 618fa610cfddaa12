import { gzipSync } from "node:zlib";
import { type Client, dial } from "../../servers/smtp-client.ts";
import { get, openSocket } from "../../servers/sockets.ts";
import { createReportMail } from "../../things/reports.ts";
import { type Attack, ask, hold, type Means, many, type Round } from "./attack.ts";

// What the service reads for anyone: reports, mail and names. test/security has each of these by itself.

const HOST = "127.0.0.1";
const HOLD_MS = 20_000;

/** A session up to the reply to DATA, or undefined where it was refused. */
const beginMail = async (
  { mailPort, note }: Means,
  address: string,
  isSecured = false,
): Promise<Client | undefined> => {
  const client = await dial(HOST, mailPort).catch(() => undefined);
  if (client === undefined) return undefined;
  await client.reply();
  await client.say("EHLO out.shop.example");
  if (isSecured && (await client.say("STARTTLS")).startsWith("220")) {
    await client.startTls().catch(() => undefined);
    await client.say("EHLO out.shop.example");
  }
  await client.say("MAIL FROM:<news@shop.example>");
  await client.say(`RCPT TO:<${address}>`);
  const reply = await client.say("DATA");
  note(`DATA ${reply.slice(0, 3)}`);
  if (reply.startsWith("354")) return client;
  client.close();
  return undefined;
};

/** A round that has the account's address for reports, which everybody reads in DNS. */
const withAddress =
  (act: (means: Means, address: string, signal: AbortSignal) => Promise<unknown>) =>
  (means: Means): Round => {
    let address: string | undefined;
    return async (signal) => {
      const route = "GET /v1/deliverability/domains/example.com/reports";
      address ??= (await ask(means, route, { key: means.liveKey, signal }))?.reports_address;
      if (address !== undefined) await act(means, address, signal);
    };
  };

const RECORDS_AT_ONCE = 3;

const byteByByte = withAddress(async (means, address, signal) => {
  const clients = await Promise.all(many(RECORDS_AT_ONCE, () => beginMail(means, address, true)));
  const line = Buffer.from(`${"x".repeat(98)}\r\n`);
  const untilMs = performance.now() + HOLD_MS;
  await Promise.all(
    clients.map(async (client) => {
      for (let n = 0; client && !signal.aborted && performance.now() < untilMs; n++) {
        const socket = client.socket();
        if (!socket.writable) break;
        // Each byte is handed over by itself, and is a TLS record of its own.
        await new Promise<void>((resolve) =>
          socket.write(line.subarray(n % 100, (n % 100) + 1), () => resolve()),
        );
      }
      client?.close();
    }),
  );
});

/** Sent whole, and the reply is waited for. */
const sendMails = (count: number, text: string) =>
  withAddress((means, address) =>
    Promise.all(
      many(count, async () => {
        const client = await beginMail(means, address);
        if (client === undefined) return;
        client.send(`${text.replaceAll(/^\./gm, "..")}\r\n.\r\n`);
        means.note((await client.reply(30_000)).slice(0, 9));
        client.close();
      }),
    ),
  );

/** Its checksum is wrong, which shows after all of it has been unpacked. */
const createBrokenBomb = (): Buffer => {
  const bomb = gzipSync(Buffer.alloc(19_900_000));
  bomb.writeUInt8((bomb.at(-6) ?? 0) ^ 1, bomb.length - 6);
  return bomb;
};

const BOMBS = createReportMail(many(10, () => ({ content: createBrokenBomb() })));
const FAULTS = many(
  2_000,
  (n) =>
    `DKIM-Signature: v=1; a=rsa-sha256; d=d${n}.example; s=s; h=subject:to; bh=AA==; b=AA==\r\n`,
).join("");
const LINKS = many(300_000, (n) => `http://a${n}.example`).join("\r\n");

const idleSessions =
  (means: Means): Round =>
  async (signal) => {
    const clients = await Promise.all(
      many(100, (n) =>
        dial(HOST, means.mailPort, { localAddress: `127.0.0.${2 + (n % 10)}` }).catch(
          () => undefined,
        ),
      ),
    );
    const untilMs = performance.now() + HOLD_MS;
    while (!signal.aborted && performance.now() < untilMs) {
      for (const client of clients) if (client?.socket().writable) client.send("NOOP\r\n");
      await hold(3_000, signal);
    }
    for (const client of clients) client?.close();
    means.note("held");
  };

const FORM = '--b\r\nContent-Disposition: form-data; name="file"; filename="r.xml"\r\n\r\n';
const FILE_BYTES = 19_900_000;

/** All of a form but its end. */
const heldUploads =
  ({ port, testKey, note }: Means): Round =>
  async (signal) => {
    const sockets = await Promise.all(many(20, () => openSocket(port).catch(() => undefined)));
    for (const socket of sockets) {
      socket?.once("data", (bytes) => note(bytes.toString("latin1", 9, 12)));
      socket?.write(
        `POST /v1/deliverability/reports HTTP/1.1\r\nHost: x\r\nx-api-key: ${testKey}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${FORM.length + FILE_BYTES + 9}\r\n\r\n${FORM}`,
      );
      socket?.write(Buffer.alloc(FILE_BYTES, " "));
    }
    await hold(HOLD_MS, signal);
    for (const socket of sockets) socket?.destroy();
  };

const ENTITIES = gzipSync(`<feedback><report_metadata>${"&#32;".repeat(3_990_000)}`);

const entities = (means: Means): Round => {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(ENTITIES)]), "r.xml.gz");
  const headers = { "x-api-key": means.testKey };
  return (signal) =>
    Promise.all(
      many(5, () =>
        fetch(`${means.baseUrl}/v1/deliverability/reports`, {
          method: "POST",
          headers,
          body: form,
          signal,
        }).then(
          (response) => means.note(String(response.status)),
          () => means.note("no answer"),
        ),
      ),
    );
};

let hosts = 0;

/** A document for a name that was never asked for, compressed. */
const newHosts =
  ({ port, note }: Means): Round =>
  async () => {
    const socket = await openSocket(port).catch(() => undefined);
    if (socket === undefined) return;
    socket.on("data", () => undefined);
    for (let n = 0; n < 200; n++) {
      const request = get("/openapi.json", ["Accept-Encoding: br", "Connection: keep-alive"]);
      socket.write(request.replace(/Host: .*\r\n/, `Host: h${hosts++}.example\r\n`));
    }
    note("asked");
    await hold(2_000, AbortSignal.timeout(2_000));
    socket.destroy();
  };

export const readingAttacks: readonly Attack[] = [
  { name: "TLS records of one byte", plan: "scale", pauseMs: 1_000, begin: byteByByte },
  { name: "mails of ten bombs", plan: "scale", pauseMs: 2_000, begin: sendMails(5, BOMBS) },
  {
    name: "mails of 300,000 links",
    plan: "scale",
    pauseMs: 2_000,
    begin: sendMails(2, `Subject: x\r\n\r\n${LINKS}`),
  },
  {
    name: "mails of 2,000 signatures",
    plan: "scale",
    pauseMs: 2_000,
    begin: sendMails(2, `${FAULTS}From: ann@example.com\r\n\r\nHello.`),
  },
  { name: "idle SMTP sessions", plan: null, pauseMs: 1_000, begin: idleSessions },
  { name: "uploads without their end", plan: "free", pauseMs: 2_000, begin: heldUploads },
  { name: "reports of entities", plan: "free", pauseMs: 1_000, begin: entities },
  { name: "documents for new names", plan: null, pauseMs: 500, begin: newHosts },
];
