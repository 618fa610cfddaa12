import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { findMailHosts } from "@mailproof/mail/dns/mail-hosts";
import { queryOverTcp } from "@mailproof/net/dns-exchange";
import { createResolverPool } from "@mailproof/net/resolver-pool";
import { expect, onTestFinished, test } from "vitest";
import type { Zone } from "../app/zone.ts";
import { serveZone } from "../servers/dns-server.ts";

// A hostile name server sends the largest response: 64 KB. None of it is read beyond what a verdict needs.

const numbered = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n));
const ip = (n: number) => `8.8.${n >> 8}.${n & 0xff}`;

const ZONE: Zone = {
  "mx.test": { MX: numbered(257, (n) => `${n} h${n}.test`) },
  "mxlong.test": { MX: numbered(250, (n) => `${n} ${"a".repeat(50)}.h${n}.test`) },
  "mxmost.test": { MX: numbered(200, (n) => `${n} h${n}.test`) },
  "a.test": { A: numbered(300, ip) },
  "txt.test": { TXT: numbered(513, (n) => `${n}`) },
  "txtlong.test": { TXT: numbered(200, (n) => `${n} ${"x".repeat(200)}`) },
  "txtmost.test": { TXT: [...numbered(120, (n) => `${n} ${"x".repeat(120)}`), "v=spf1 -all"] },
  "wide.test": { MX: ["10 pool.test"] },
  "pool.test": { A: numbered(200, ip) },
  "hidden.test": { MX: ["10 inside.test"] },
  "inside.test": { A: [...numbered(30, (n) => `10.0.0.${n}`), "8.8.8.8"] },
  "fat.test": { MX: ["10 a.test"] },
};

const setup = async () => {
  const server = await serveZone(ZONE);
  const dns = createResolverPool({ servers: [server.address], packetsPerSecond: 10_000 });
  onTestFinished(async () => {
    dns.close();
    await server.close();
  });
  return { server, dns };
};

test.each([
  ["mail hosts by number", "MX", "mx.test"],
  ["mail hosts by bytes", "MX", "mxlong.test"],
  ["addresses", "A", "a.test"],
  ["texts by number", "TXT", "txt.test"],
  ["texts by bytes", "TXT", "txtlong.test"],
] as const)("the resolver does not read an answer with too many %s", async (_, type, name) => {
  const { dns } = await setup();

  expect(await dns(type, name)).toEqual({ kind: "too_large" });
});

test.each([
  ["MX", "mxmost.test", 200],
  ["TXT", "txtmost.test", 121],
  ["A", "pool.test", 200],
] as const)(
  "the resolver reads the largest answers of real companies: %s",
  async (type, name, count) => {
    const { dns } = await setup();

    const outcome = await dns(type, name);

    expect(outcome.kind === "ok" && outcome.records).toHaveLength(count);
  },
);

test("the resolver refuses an answer over TCP by its length before it is sent", async () => {
  let sent = 0;
  const tcp = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => {
      socket.write(Buffer.from([0xff, 0xff]));
      sent += 2;
    });
  });
  tcp.listen(0, "127.0.0.1");
  await once(tcp, "listening");
  onTestFinished(() => void tcp.close());

  const reply = await queryOverTcp(
    { host: "127.0.0.1", port: (tcp.address() as AddressInfo).port },
    { type: "MX", name: "t.test" },
    { waitMs: 5_000, signal: new AbortController().signal },
  );

  expect(reply).toEqual({ kind: "too_large" });
  expect(sent).toBe(2);
});

test("a DNS answer that is too large makes the domain inconclusive", async () => {
  const { dns } = await setup();

  const found = await Promise.all(
    ["mx.test", "fat.test", "hidden.test"].map((name) => findMailHosts(dns, name, [])),
  );

  expect(found).toMatchObject([
    { kind: "inconclusive", why: "too_large" },
    { kind: "inconclusive", why: "too_large" },
    { kind: "inconclusive", why: "too_large" },
  ]);
});

test("the service reads few mail hosts and addresses of a domain, however many it has", async () => {
  const { dns, server } = await setup();

  const dead = await findMailHosts(dns, "mxmost.test", []);
  const wide = await findMailHosts(dns, "wide.test", []);

  expect(dead).toMatchObject({ kind: "inconclusive", why: "too_large" });
  expect(server.questions.filter((question) => question.includes(" A h"))).toHaveLength(10);
  expect(wide.kind === "hosts" && wide.hosts[0]?.ips).toHaveLength(20);
});
