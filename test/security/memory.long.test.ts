import { expect, onTestFinished, test } from "vitest";
import { createFolder, whenStarted } from "../servers/running.ts";
import {
  afterRounds,
  connectTo,
  get,
  residentMegabytes,
  sendByteByByte,
} from "../servers/slow-clients.ts";
import { dial } from "../servers/smtp-client.ts";

// The same attacks as in connections.test.ts, whole, on its own process: what is asserted is its resident memory.

/** Of its own, a server grows by some tens of megabytes in its first requests. */
const GROWTH_MEGABYTES = 150;
const RECORDS_MEGABYTES = 75;

test.each([
  ["one path", () => get("/openapi.json")],
  ["compressed forms", () => get("/openapi.json", ["Accept-Encoding: br"])],
  [
    "a new host name per request",
    (n: number) => get("/openapi.json").replace("x.example", `h${n}`),
  ],
])(
  "the server uses little memory for 20,000 pipelined requests with unread responses: %s",
  async (_, nth) => {
    const { ready, pid } = await whenStarted(createFolder());
    const port = Number(new URL(ready.base_url).port);
    await (await fetch(`${ready.base_url}/openapi.json`)).text();
    const before = residentMegabytes(pid);
    const sockets = await Promise.all(Array.from({ length: 4 }, () => connectTo(port)));

    const requests = Array.from({ length: 20_000 }, (_one, n) => nth(n)).join("");
    for (const socket of sockets) socket.write(requests);
    await afterRounds(port, 300);

    expect(residentMegabytes(pid) - before).toBeLessThan(GROWTH_MEGABYTES);
  },
);

const readReportsAddress = async ({ base_url: url, live_key: key }: Record<string, string>) => {
  const path = "/v1/deliverability/domains/example.com/reports";
  const response = await fetch(`${url}${path}`, { headers: { "X-Api-Key": key ?? "" } });
  const { data } = (await response.json()) as { data: { reports_address: string } };
  return data.reports_address;
};

test("the server uses little memory for mails in TLS records of one byte", async () => {
  const settings = { MAIL_DOMAIN: "mail.example.com", MAIL_PORT: "0" };
  const { ready, pid } = await whenStarted(createFolder(), [], settings);
  const { mail_port: port } = ready as unknown as { mail_port: number };
  const address = await readReportsAddress(ready);
  const clients = [];
  for (let n = 0; n < 2; n++) {
    const client = await dial("127.0.0.1", port);
    onTestFinished(client.close);
    await client.reply();
    await client.say("EHLO out.shop.example");
    await client.say("STARTTLS");
    await client.startTls();
    await client.say("EHLO out.shop.example");
    await client.say("MAIL FROM:<news@shop.example>");
    await client.say(`RCPT TO:<${address}>`);
    expect(await client.say("DATA")).toMatch(/^354 /);
    clients.push(client);
  }
  const before = residentMegabytes(pid);

  const text = Buffer.from(`${"x".repeat(98)}\r\n`.repeat(1_500));
  await Promise.all(clients.map(({ socket }) => sendByteByByte(socket(), text)));

  // 300,000 bytes. An object for each is 130 MB.
  expect(residentMegabytes(pid) - before).toBeLessThan(RECORDS_MEGABYTES);
});
