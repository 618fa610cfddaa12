import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { DnsRecordType } from "@mailproof/mail/dns/dns";
import { decodeReply } from "@mailproof/net/dns-message";
import { createResolverPool } from "@mailproof/net/resolver-pool";
import packet from "dns-packet";
import { expect, onTestFinished, test } from "vitest";
import type { Zone } from "../app/zone.ts";
import { serveZone } from "../servers/dns-server.ts";
import { createRandom } from "../simulation/random.ts";

// Names with signs that no host's name has: node:dns refuses them, and SPF has to ask for them.

const ODD = "ann smith:1.example.com";

const ZONE: Zone = {
  [ODD]: {
    A: ["192.0.2.1", "192.0.2.2"],
    AAAA: ["2001:db8::1"],
    MX: ["10 a.example.net", "0 ."],
    NS: ["ns.example.net"],
    TXT: ["v=spf1 -all", "h\u00e9\u00ff"],
    PTR: ["p.example.net"],
  },
  "a=b.example.com": { CNAME: [ODD] },
  "back\\slash.example.com": { A: ["192.0.2.3"] },
  "long text.example.com": { TXT: [`${"long ".repeat(300)}end`] },
  "below.an empty one.example.com": { A: ["192.0.2.4"] },
  "se rv.test": "SERVFAIL",
  "re fused.test": "REFUSED",
  "si lent.test": "TIMEOUT",
};

const poolOn = (address: string, packetsPerSecond = 10_000) => {
  const dns = createResolverPool({ servers: [address], packetsPerSecond });
  onTestFinished(dns.close);
  return dns;
};

const givenPool = async () => {
  const server = await serveZone(ZONE);
  onTestFinished(server.close);
  return { server, dns: poolOn(server.address) };
};

test.each([
  ["A", ODD, ["192.0.2.1", "192.0.2.2"]],
  ["A", ODD.toUpperCase(), ["192.0.2.1", "192.0.2.2"]],
  ["A", "a=b.example.com", ["192.0.2.1", "192.0.2.2"]],
  ["A", "back\\slash.example.com", ["192.0.2.3"]],
  ["AAAA", ODD, ["2001:db8::1"]],
  [
    "MX",
    ODD,
    [
      { priority: 10, exchange: "a.example.net" },
      { priority: 0, exchange: "" },
    ],
  ],
  ["TXT", ODD, ["v=spf1 -all", "h\u00e9\u00ff"]],
  ["NS", ODD, ["ns.example.net"]],
  ["PTR", ODD, ["p.example.net"]],
  ["CNAME", "a=b.example.com", [ODD]],
] as const)("%s of %j is read as from any other name", async (type, name, records) => {
  const { dns } = await givenPool();

  expect(await dns(type, name)).toEqual({ kind: "ok", records });
});

test.each([
  ["MX", "back\\slash.example.com", "nodata"],
  ["A", "an empty one.example.com", "nodata"],
  ["A", "not there.example.com", "nxdomain"],
  ["A", "se rv.test", "servfail"],
  ["A", "re fused.test", "refused"],
] as const)("%s of %j is %s", async (type, name, kind) => {
  const { dns } = await givenPool();

  expect(await dns(type, name)).toEqual({ kind });
});

test("an answer too long for UDP is fetched over TCP, whole", async () => {
  const { server, dns } = await givenPool();

  const outcome = await dns("TXT", "long text.example.com");

  expect(outcome).toEqual({ kind: "ok", records: [`${"long ".repeat(300)}end`] });
  expect(server.questions).toEqual([
    "udp TXT long text.example.com",
    "tcp TXT long text.example.com",
  ]);
});

test("silence is given up in the end", { timeout: 30_000 }, async () => {
  const { server, dns } = await givenPool();

  expect(await dns("A", "si lent.test")).toEqual({ kind: "timeout" });
  expect(server.questions.filter((one) => one !== "udp NS com")).toEqual(
    Array.from({ length: 3 }, () => "udp A si lent.test"),
  );
});

test("a resolver that is not there is our own failure", async () => {
  const server = await serveZone({});
  await server.close();

  expect(await poolOn(server.address)("A", ODD)).toEqual({ kind: "internal" });
});

test("closing answers who waits", async () => {
  const { server, dns } = await givenPool();
  const waiting = dns("A", "si lent.test");
  while (server.questions.length === 0) await new Promise((resolve) => setImmediate(resolve));

  dns.close();

  expect(await waiting).toEqual({ kind: "timeout" });
});

/** A server that answers each question with these, in this order. */
const givenAnswers = async (...answers: readonly ((question: Buffer) => Buffer)[]) => {
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  onTestFinished(() => void socket.close());
  await once(socket, "listening");
  socket.on("message", (question, { port, address }) => {
    for (const answer of answers) socket.send(answer(question), port, address);
  });
  return poolOn(`127.0.0.1:${socket.address().port}`);
};

const saying = (
  address: string,
  changes: { readonly id?: number; readonly name?: string } = {},
) => {
  return (question: Buffer): Buffer => {
    const { id = 0 } = packet.decode(question);
    return packet.encode({
      id: id ^ (changes.id ?? 0),
      type: "response",
      questions: [{ type: "A", name: changes.name ?? ODD }],
      answers: [{ type: "A", name: ODD, ttl: 1, data: address }],
    });
  };
};

test("an answer with another number, or to another question, is not taken for ours", async () => {
  const dns = await givenAnswers(
    () => Buffer.from([1]),
    saying("192.0.2.66", { id: 1 }),
    saying("192.0.2.67", { name: "other name.test" }),
    (question) => question,
    saying("192.0.2.1"),
  );

  expect(await dns("A", ODD)).toEqual({ kind: "ok", records: ["192.0.2.1"] });
});

test("an answer that is not DNS is a failure of the server, never of the name", async () => {
  const dns = await givenAnswers((question) => question.subarray(0, 20));

  expect(await dns("A", ODD)).toEqual({ kind: "servfail" });
});

// Any bytes as DNS messages: whatever they are, they are an outcome, and a name in them ends.

const ANSWERS = [
  { type: "MX", name: "a.test", data: { preference: 10, exchange: "mx.a.test" } },
  { type: "A", name: "a.test", data: "8.8.8.8" },
  { type: "AAAA", name: "a.test", data: "2001:db8::1:0:0:1" },
  { type: "TXT", name: "a.test", data: [Buffer.from("v=spf1"), Buffer.from(" -all")] },
  {
    type: "TLSA",
    name: "a.test",
    data: { usage: 3, selector: 1, matchingType: 1, certificate: Buffer.alloc(32, 7) },
  },
  { type: "NS", name: "a.test", data: "ns.a.test" },
] as const;

const getReply = (type: string) =>
  packet.encode({
    id: 7,
    type: "response",
    questions: [{ type, name: "a.test" }],
    answers: ANSWERS.filter((answer) => answer.type === type),
  });

const KINDS = "ok nodata nxdomain servfail refused too_large truncated formerr unrelated".split(
  " ",
);

test.each(ANSWERS.map(({ type }) => type))("a damaged answer of %s is an outcome", (type) => {
  const random = createRandom(3);
  const kinds = new Set<string>();
  for (let n = 0; n < 5_000; n += 1) {
    const bytes = Buffer.from(getReply(type));
    for (let changes = 1 + Math.floor(random() * 4); changes > 0; changes -= 1)
      bytes[2 + Math.floor(random() * (bytes.length - 2))] = Math.floor(random() * 256);
    const cut = random() < 0.3 ? Math.floor(random() * bytes.length) : bytes.length;
    const question = { id: 7, type: type as DnsRecordType, name: "a.test" };
    kinds.add(decodeReply(bytes.subarray(0, cut), question).kind);
  }

  expect([...kinds].filter((kind) => !KINDS.includes(kind))).toEqual([]);
  expect(kinds.has("servfail") && kinds.has("ok")).toBe(true);
});

test("a pointer to itself, or to what follows, is a failure of the server", () => {
  const bytes = getReply("NS");
  const data = bytes.length - 2;
  const question = { id: 7, type: "NS", name: "a.test" } as const;

  for (const target of [data - 9, data, data + 1]) {
    const pointing = Buffer.from(bytes);
    pointing.writeUInt16BE(0xc000 | target, data - 9);
    expect(decodeReply(pointing, question)).toEqual({ kind: "servfail" });
  }
});
