import { createSocket } from "node:dgram";
import { once } from "node:events";
import { startDnsServer } from "@mailproof/lab/dns-server";
import type { DnsRecordType } from "@mailproof/mail/dns/dns";
import { findMailHosts } from "@mailproof/mail/dns/mail-hosts";
import { decodeReply } from "@mailproof/net/dns-message";
import { createResolverPool } from "@mailproof/net/resolver-pool";
import packet from "dns-packet";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Zone } from "../app/zone.ts";
import { asRows } from "../runner/as-rows.ts";
import { type DnsServer, serveZone } from "../servers/dns-server.ts";
import { createRandom } from "../simulation/random.ts";

const MANY = Array.from({ length: 200 }, (_, n) => `${n} mx${n}.example.net`);

const ZONE: Zone = {
  "example.com": {
    A: ["192.0.2.1", "192.0.2.2"],
    AAAA: ["2001:db8::1"],
    MX: ["20 b.example.net", "10 a.example.net"],
    NS: ["ns1.example.net"],
    TXT: ["v=spf1 -all", `${"long ".repeat(100)}end`, "h\u00e9\u00ff"],
  },
  "10.2.0.192.in-addr.arpa": { PTR: ["mail.example.com"] },
  "alias.test": { CNAME: ["example.com"] },
  "alias-to-nothing.test": { CNAME: ["gone.test"] },
  "alias-without-mx.test": { CNAME: ["a-only.test"] },
  "a-only.test": { A: ["192.0.2.3"] },
  "null.test": { MX: ["0 ."] },
  "many.test": { MX: MANY },
  "xn--mnchen-3ya.test": { A: ["192.0.2.4"] },
  "_dmarc.under_score.test": { TXT: ["v=DMARC1; p=none"] },
  "_25._tcp.mx.test": { TLSA: [`3 1 1 ${"0fa5".repeat(16)}`, "2 0 0 00"] },
  "_25._tcp.alias.test": { CNAME: ["_25._tcp.mx.test"] },
  "servfail.test": "SERVFAIL",
  "refused.test": "REFUSED",
  "silent.test": "TIMEOUT",
};

const givenPool = async (zone: Zone = ZONE, packetsPerSecond = 10_000) => {
  const server = await serveZone(zone);
  onTestFinished(server.close);
  return { server, dns: poolOn(server, packetsPerSecond) };
};

const poolOn = ({ address }: Pick<DnsServer, "address">, packetsPerSecond = 10_000) => {
  const dns = createResolverPool({ servers: [address], packetsPerSecond });
  onTestFinished(dns.close);
  return dns;
};

test.each([
  ["A", "example.com", ["192.0.2.1", "192.0.2.2"]],
  ["A", "EXAMPLE.com.", ["192.0.2.1", "192.0.2.2"]],
  ["A", "alias.test", ["192.0.2.1", "192.0.2.2"]],
  ["A", "münchen.test", ["192.0.2.4"]],
  ["AAAA", "example.com", ["2001:db8::1"]],
  ["NS", "example.com", ["ns1.example.net"]],
  ["CNAME", "alias.test", ["example.com"]],
  ["PTR", "10.2.0.192.in-addr.arpa", ["mail.example.com"]],
  ["TXT", "_dmarc.under_score.test", ["v=DMARC1; p=none"]],
  ["MX", "null.test", [{ priority: 0, exchange: "" }]],
  ["TLSA", "_25._tcp.mx.test", [`3 1 1 ${"0fa5".repeat(16)}`, "2 0 0 00"]],
  ["TLSA", "_25._tcp.alias.test", [`3 1 1 ${"0fa5".repeat(16)}`, "2 0 0 00"]],
] as const)("the resolver returns the %s records of %s", async (type, name, records) => {
  const { dns } = await givenPool();

  expect(await dns(type, name)).toEqual({ kind: "ok", records });
});

test("the resolver marks an answer that it validated, and no answer through an unsigned alias", async () => {
  const signed = { A: ["192.0.2.1"], isSigned: true } as const;
  const zone = {
    "signed.test": signed,
    "alias.test": { CNAME: ["signed.test"] },
    "signed-alias.test": { CNAME: ["signed.test"], isSigned: true } as const,
    "plain.test": { A: ["192.0.2.1"] },
  };
  const server = await startDnsServer({ "": zone }, 0);
  onTestFinished(server.close);
  const dns = poolOn(server);
  const isAuthentic = async (name: string) => {
    const outcome = await dns("A", name);
    return outcome.kind === "ok" && outcome.isAuthentic;
  };

  expect(await Promise.all(Object.keys(zone).map(isAuthentic))).toEqual([
    true,
    undefined,
    true,
    undefined,
  ]);
});

test.each(["example.com", "alias.test"])("the resolver reads the MX of %s", async (name) => {
  const { dns } = await givenPool();

  const outcome = await dns("MX", name);

  expect(outcome.kind === "ok" && new Set(outcome.records)).toEqual(
    new Set([
      { priority: 10, exchange: "a.example.net" },
      { priority: 20, exchange: "b.example.net" },
    ]),
  );
});

test("the resolver joins the strings of a TXT record, and reads a byte as a character", async () => {
  const { dns } = await givenPool();

  const outcome = await dns("TXT", "example.com");

  expect(outcome.kind === "ok" && outcome.records.toSorted()).toEqual([
    "h\u00e9\u00ff",
    `${"long ".repeat(100)}end`,
    "v=spf1 -all",
  ]);
});

test("the resolver fetches an answer too long for UDP over TCP, whole", async () => {
  const { server, dns } = await givenPool();

  const outcome = await dns("MX", "many.test");

  expect(outcome.kind === "ok" && outcome.records).toHaveLength(200);
  expect(server.questions).toEqual(["udp MX many.test", "tcp MX many.test"]);
});

test.each([
  ["a name without the type", "MX", "a-only.test", "nodata"],
  ["an alias whose end lacks the type", "MX", "alias-without-mx.test", "nodata"],
  ["a name that only has names below it", "A", "in-addr.arpa", "nodata"],
  ["a missing name", "MX", "gone.test", "nxdomain"],
  ["an alias to a missing name", "MX", "alias-to-nothing.test", "nxdomain"],
  ["a failing server", "MX", "servfail.test", "servfail"],
  ["a refusing server", "MX", "refused.test", "refused"],
] as const)("the look-up of %s (%s of %s) returns %s", async (_, type, name, kind) => {
  const { dns } = await givenPool();

  expect(await dns(type, name)).toEqual({ kind });
});

test.each([
  ["no name at all", "", "nxdomain"],
  ["the root", ".", "nxdomain"],
  ["an empty label", "a..test", "nxdomain"],
  ["a dot in front", ".a.test", "nxdomain"],
  ["a label of 64 octets", `${"a".repeat(64)}.test`, "nxdomain"],
  ["a name of 254 octets", `${"a.".repeat(125)}test`, "nxdomain"],
  // These may exist. That we cannot ask for them says nothing about them.
  ["a name with a zero byte", "example.com\0.evil.test", "servfail"],
  ["a name with a line feed", "example.com\n", "servfail"],
  ["letters that IDNA refuses", "a\u00ad\u2028b.test", "servfail"],
])("the resolver sends no DNS query for %s", async (_, name, kind) => {
  const { server, dns } = await givenPool();

  expect(await dns("A", name)).toEqual({ kind });
  expect(server.questions).toEqual([]);
});

test("the resolver asks for the longest label and the longest name", async () => {
  const { server, dns } = await givenPool();

  await dns("A", `${"a".repeat(63)}.test`);
  await dns("A", `${"a.".repeat(124)}xtest`);

  expect(server.questions).toHaveLength(2);
});

test("an answer that is not DNS counts as the server's failure, never the name's", async () => {
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  onTestFinished(() => void socket.close());
  await once(socket, "listening");
  // A reply to the question asked, cut off inside its answer section.
  socket.on("message", (question, { port, address }) => {
    const askedQuestions = question.subarray(0, question.indexOf("com\0") + 8);
    const reply = Buffer.concat([askedQuestions, Buffer.from([0xc0, 0xff, 0, 1])]);
    reply.writeUInt16BE(0x8180, 2);
    reply.writeUInt16BE(1, 6);
    reply.writeUInt16BE(0, 10);
    socket.send(reply, port, address);
  });

  const dns = poolOn({ address: `127.0.0.1:${socket.address().port}` });

  expect(await dns("A", "example.com")).toEqual({ kind: "servfail" });
});

test("a missing resolver counts as our own failure", async () => {
  const server = await serveZone({});
  await server.close();

  expect(await poolOn(server)("A", "example.com")).toEqual({ kind: "internal" });
});

test("the repeats of an unanswered DNS query count as packets, too", async () => {
  const server = await serveZone({});
  await server.close();
  // A packet each nine seconds: the second question may wait that long, but not for two repeats as well.
  const dns = poolOn(server, 1 / 9);

  expect(await dns("A", "example.com")).toEqual({ kind: "internal" });
  expect(await dns("A", "example.com")).toEqual({ kind: "timeout" });
});

test("the resolver gives up a silent server in the end", { timeout: 30_000 }, async () => {
  const { server, dns } = await givenPool();

  expect(await dns("A", "silent.test")).toEqual({ kind: "timeout" });
  expect(server.questions.filter((one) => one !== "udp NS com")).toEqual(
    Array.from({ length: 3 }, () => "udp A silent.test"),
  );
});

test("closing the resolver answers waiting callers and every later caller", async () => {
  const { server, dns } = await givenPool();
  const waiting = dns("A", "silent.test");
  while (server.questions.length === 0) await new Promise((resolve) => setImmediate(resolve));

  dns.close();

  expect(await waiting).toEqual({ kind: "timeout" });
  expect(await dns("A", "example.com")).toEqual({ kind: "timeout" });
});

test("the engine reaches a mail host over real sockets, from DNS to SMTP", async () => {
  const { dns } = await givenPool({
    "example.com": { CNAME: ["example.net"] },
    "example.net": { MX: ["0 .", "10 MX.example.net", "20 10.0.0.1"] },
    "mx.example.net": { CNAME: ["real.example.net"] },
    "real.example.net": { A: ["10.0.0.1", "8.8.8.8"] },
  });

  const { dnsQueries: askedQuestions, ...found } = await findMailHosts(dns, "example.com", []);

  expect(found).toEqual({
    kind: "hosts",
    hosts: [{ host: "mx.example.net", priority: 10, ips: ["8.8.8.8"] }],
    implicit: false,
  });
  expect(askedQuestions.map(({ type, name, kind }) => `${type} ${name} ${kind}`)).toEqual([
    "MX example.com ok",
    "A mx.example.net ok",
  ]);
});

/** Answers what it hears through another server, but loses packets on the way. */
const givenLossy = async (isLost: (name: string, count: number) => boolean) => {
  const server = await serveZone(ZONE);
  onTestFinished(server.close);
  const [host = "", port = ""] = server.address.split(":");
  const proxy = createSocket("udp4");
  let count = 0;
  proxy.on("message", (bytes, client) => {
    if (isLost(bytes.toString("latin1", 12), (count += 1))) return;
    const onward = createSocket("udp4");
    onward.once("message", (reply) => {
      proxy.send(reply, client.port, client.address);
      onward.close();
    });
    onward.send(bytes, Number(port), host);
  });
  proxy.bind(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => void proxy.close());
  return poolOn({ address: `127.0.0.1:${proxy.address().port}` });
};
const isControl = (name: string) => name.startsWith("\u0003com\0");

test("an unanswered query blames the silent name server while others are answered", async () => {
  const dns = await givenLossy(() => false);

  expect(await dns("A", "silent.test")).toEqual({ kind: "timeout" });
});

test("an unanswered query counts as our failure while other queries are lost, too", async () => {
  const dns = await givenLossy(() => true);

  expect(await dns("A", "example.com")).toEqual({ kind: "internal" });
});

test("an unanswered query counts as our failure even if only one other query is lost", async () => {
  let controls = 0;
  const dns = await givenLossy((name) => isControl(name) && (controls += 1) === 2);

  expect(await dns("A", "silent.test")).toEqual({ kind: "internal" });
});

describe("names that no host has", () => {
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

  test.each(asRows`
  A | ${ODD} | [192.0.2.1 192.0.2.2]
  A | ${ODD.toUpperCase()} | [192.0.2.1 192.0.2.2]
  A | a=b.example.com | [192.0.2.1 192.0.2.2]
  A | ${"back\\slash.example.com"} | [192.0.2.3]
  AAAA | ${ODD} | [2001:db8::1]
  MX | ${ODD} | ${[{ priority: 10, exchange: "a.example.net" }, { priority: 0, exchange: "" }]}
  TXT | ${ODD} | ${["v=spf1 -all", "h\u00e9\u00ff"]}
  NS | ${ODD} | [ns.example.net]
  PTR | ${ODD} | [p.example.net]
  CNAME | a=b.example.com | ${[ODD]}
`)("the resolver reads %s of %j as of any other name", async (type, name, records) => {
    const { dns } = await givenPool();

    expect(await dns(type, name)).toEqual({ kind: "ok", records });
  });

  test.each([
    ["MX", "back\\slash.example.com", "nodata"],
    ["A", "an empty one.example.com", "nodata"],
    ["A", "not there.example.com", "nxdomain"],
    ["A", "se rv.test", "servfail"],
    ["A", "re fused.test", "refused"],
  ] as const)("the look-up of %s of %j returns %s", async (type, name, kind) => {
    const { dns } = await givenPool();

    expect(await dns(type, name)).toEqual({ kind });
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

  test("the resolver ignores an answer with another number, or to another query", async () => {
    const dns = await givenAnswers(
      () => Buffer.from([1]),
      saying("192.0.2.66", { id: 1 }),
      saying("192.0.2.67", { name: "other name.test" }),
      (question) => question,
      saying("192.0.2.1"),
    );

    expect(await dns("A", ODD)).toEqual({ kind: "ok", records: ["192.0.2.1"] });
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

  test.each(ANSWERS.map(({ type }) => type))(
    "the resolver returns an outcome for a damaged answer of %s",
    (type) => {
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
    },
  );

  test("a pointer to itself, or to later bytes, counts as a failure of the server", () => {
    const bytes = getReply("NS");
    const data = bytes.length - 2;
    const question = { id: 7, type: "NS", name: "a.test" } as const;

    for (const target of [data - 9, data, data + 1]) {
      const pointing = Buffer.from(bytes);
      pointing.writeUInt16BE(0xc000 | target, data - 9);
      expect(decodeReply(pointing, question)).toEqual({ kind: "servfail" });
    }
  });
});
