import { createPublicKey } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type Lab, startLab } from "@mailproof/lab/lab";
import * as packet from "dns-packet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createResolver } from "../servers/smtp-client.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({
    companies: 3,
    zones: {
      "extra.example": {
        "extra.example": {
          TXT: [["two ", "strings"], "caf\xe9"],
          MX: "SERVFAIL",
          A: ["192.0.2.1"],
        },
        "*.wild.extra.example": { A: ["192.0.2.2"] },
        "a.b.wild.extra.example": { A: ["192.0.2.3"] },
        "alias.extra.example": { CNAME: ["extra.example"] },
        "away.extra.example": { CNAME: ["elsewhere.example"] },
        "loop.extra.example": { CNAME: ["loop.extra.example"] },
        "v6.extra.example": { AAAA: ["2001:db8::1"] },
      },
    },
  });
});
afterAll(() => lab.close());

const getCode = (lookup: Promise<unknown>) =>
  lookup.then(
    (records) => records,
    (error: NodeJS.ErrnoException) => error.code,
  );
const mx = (priority: number, exchange: string) => ({ priority, exchange, type: "MX" });
const at = (name: string) => `${name}.lab.mailproof.test`;

test.each([
  ["nullmx", [mx(0, "")]],
  ["aonly", "ENODATA"],
  ["nomail", "ENODATA"],
  ["nxdomain", "ENOTFOUND"],
  ["servfail", "ESERVFAIL"],
  ["dnsrefused", "EREFUSED"],
  ["dnstimeout", "ETIMEOUT"],
  ["mxservfail", "ESERVFAIL"],
  ["microsoft", [mx(0, at("microsoft.mail.protection"))]],
  ["VALID", [mx(10, at("mx.valid"))]],
  ["no.such.name.anywhere", "ENOTFOUND"],
])("the lab's DNS server returns the expected MX of %s", async (name, expected) => {
  expect(await getCode(createResolver(lab).resolveMx(at(name)))).toEqual(expected);
});

test.each<[name: string, type: "A" | "AAAA" | "TXT" | "MX", expected: unknown]>([
  [at("mx.mxprivate"), "A", ["10.0.0.1"]],
  [at("mx.mxmapped"), "AAAA", ["::ffff:10.0.0.1"]],
  [at("mx.mxhostfail"), "A", "ESERVFAIL"],
  [at("gone.mxgone"), "A", "ENOTFOUND"],
  [at("companies"), "A", "ENODATA"],
  ["extra.example", "TXT", [["two ", "strings"], ["caf\xe9"]]],
  ["extra.example", "MX", "ESERVFAIL"],
  ["extra.example", "AAAA", "ENODATA"],
  ["x.y.wild.extra.example", "A", ["192.0.2.2"]],
  ["b.wild.extra.example", "A", "ENODATA"],
  ["c.b.wild.extra.example", "A", "ENOTFOUND"],
  ["alias.extra.example", "A", ["192.0.2.1"]],
  ["loop.extra.example", "A", "ESERVFAIL"],
  ["v6.extra.example", "AAAA", ["2001:db8::1"]],
  ["gmail.com", "MX", "EREFUSED"],
  ["_dmarc.mailproof.test", "TXT", "ENOTFOUND"],
  ["mailproof.test", "TXT", "ENODATA"],
  [at("_dmarc.good.senders"), "TXT", [[expect.stringMatching(/^v=DMARC1; p=reject/)]]],
  [at("_domainkey.good.senders"), "TXT", "ENODATA"],
  [at("_domainkey.bare.senders"), "TXT", "ENOTFOUND"],
  [at("i10.lookups.senders"), "TXT", [["v=spf1 ip4:192.0.2.110 -all"]]],
  [at("66.2.0.192.bl"), "A", ["127.0.0.2"]],
  [at("2.0.0.127.bl"), "A", ["127.0.0.2"]],
  [at("1.0.0.127.bl"), "A", "ENOTFOUND"],
  [at("4.3.2.1.refusing-bl"), "A", ["127.255.255.254"]],
])("the lab's DNS server returns the expected answer for %s %s", async (name, type, expected) => {
  expect(await getCode(createResolver(lab).resolve(name, type))).toEqual(expected);
});

test("the DNS server sends an answer too big for UDP over TCP, or at once to a client with EDNS0", async () => {
  expect(await createResolver(lab).resolveMx(at("mxmany"))).toHaveLength(30);

  const plain = await query({ additionals: [] });
  const edns = await query({
    additionals: [{ type: "OPT", name: ".", udpPayloadSize: 4096, flags: 0, options: [] }],
  });

  expect([plain.answers?.length, (plain.flags ?? 0) & packet.TRUNCATED_RESPONSE]).toEqual([
    0,
    packet.TRUNCATED_RESPONSE,
  ]);
  expect(edns.answers).toHaveLength(30);
});

test("a client receives a DKIM key longer than a character-string whole", async () => {
  const [strings = []] = await createResolver(lab).resolveTxt(
    at("selector1._domainkey.good.senders"),
  );
  const key = /p=(.*)$/.exec(strings.join(""))?.[1] ?? "";

  expect(strings.length).toBeGreaterThan(1);
  expect(
    createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" }).type,
  ).toBe("public");
});

test("the reverse DNS of a mail host's address returns the host's name", async () => {
  const resolver = createResolver(lab);
  const [address = ""] = await resolver.resolve4(at("mx.valid"));

  expect(await resolver.reverse(address)).toEqual([at("mx.valid")]);
});

test("a lab with its own root zone returns NXDOMAIN for a name outside its zones", async () => {
  const own = await startLab({ companies: 0, zones: { "": { "a.example": { TXT: ["here"] } } } });
  const resolver = createResolver(own);
  const dnsAnswers = [
    await getCode(resolver.resolveTxt("a.example")),
    await getCode(resolver.resolveTxt("b.example")),
    await getCode(resolver.resolveMx(at("nullmx"))),
  ];
  await own.close();

  expect(dnsAnswers).toEqual([[["here"]], "ENOTFOUND", [mx(0, "")]]);
});

test("the DNS server ignores bytes that are no DNS query", async () => {
  const socket = createSocket("udp4");
  const [host, port] = lab.dns.split(":");
  for (const bytes of ["", "x", "\0".repeat(12), "\xff".repeat(40)])
    socket.send(Buffer.from(bytes, "latin1"), Number(port), host);
  socket.close();

  expect(await createResolver(lab).resolve4(at("mx.valid"))).toHaveLength(1);
});

const query = async (more: Partial<packet.Packet>): Promise<packet.Packet> => {
  const socket = createSocket("udp4");
  const [host, port] = lab.dns.split(":");
  const questions = [{ type: "MX", name: at("mxmany") }];
  socket.send(packet.encode({ id: 7, type: "query", questions, ...more }), Number(port), host);
  const [bytes] = await once(socket, "message");
  socket.close();
  return packet.decode(bytes);
};
