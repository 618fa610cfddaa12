import type { Dns } from "@mailproof/mail/dns/dns";
import { expect, onTestFinished, test } from "vitest";
import { createZoneDns, type Zone } from "../app/zone.ts";
import {
  createClient,
  listenPlain,
  listenSecure,
  NAME,
  OPEN,
  posted,
  trustSelfSigned,
} from "../servers/https-servers.ts";

// Goal: no address that a request gives us makes us connect to anything but the open internet.
// Method: a listener at every address of this machine, at the very port the client may call, writes down who comes. Of
// its addresses one, 127.0.0.5, stands for the open internet.

/** What anyone can write into the DNS. */
const ZONE: Zone = {
  "a.test": { A: [OPEN] },
  "loop.test": { A: ["127.0.0.1"] },
  "loop6.test": { AAAA: ["::1"] },
  "mapped.test": { AAAA: ["::ffff:127.0.0.1"] },
  "mapped-hex.test": { AAAA: ["::ffff:7f00:1"] },
  "compatible.test": { AAAA: ["::127.0.0.1"] },
  "nat64.test": { AAAA: ["64:ff9b::7f00:1"] },
  "nat64-local.test": { AAAA: ["64:ff9b:1::7f00:1"] },
  "6to4.test": { AAAA: ["2002:7f00:1::"] },
  "teredo.test": { AAAA: ["2001:0:7f00:1::"] },
  "zero.test": { A: ["0.0.0.0"] },
  "zero6.test": { AAAA: ["::"] },
  "ten.test": { A: ["10.0.0.1"] },
  "metadata.test": { A: ["169.254.169.254"] },
  "metadata6.test": { AAAA: ["fd00:ec2::254"] },
  "linklocal6.test": { AAAA: ["fe80::1"] },
  "azure.test": { A: ["168.63.129.16"] },
  "carrier.test": { A: ["100.100.100.200"] },
  "multicast.test": { A: ["224.0.0.1"] },
  "broadcast.test": { A: ["255.255.255.255"] },
  "good-and-bad.test": { A: [OPEN, "127.0.0.1"] },
  "bad-and-good.test": { A: ["127.0.0.1", OPEN] },
  "good-and-bad6.test": { A: [OPEN], AAAA: ["::1"] },
  "alias.test": { CNAME: ["loop.test"] },
  "far-alias.test": { CNAME: ["alias.test"] },
  localhost: { A: [OPEN] },
  "metadata.google.internal": { A: ["169.254.169.254"] },
  "nothing.test": { TXT: ["here"] },
  "down.test": "SERVFAIL",
};

/** `:P` is the port of the listener. */
const URLS: readonly (readonly [what: string, url: string])[] = [
  ["loopback", "https://127.0.0.1:P/"],
  ["another address of loopback", "https://127.8.9.10:P/"],
  ["two parts", "https://127.1:P/"],
  ["three parts", "https://127.0.1:P/"],
  ["one decimal number", "https://2130706433:P/"],
  ["one hexadecimal number", "https://0x7f000001:P/"],
  ["hexadecimal in capitals", "https://0X7F.0X0.0X0.0X1:P/"],
  ["hexadecimal octets", "https://0x7f.0x0.0x0.0x1:P/"],
  ["octal octets", "https://0177.0.0.1:P/"],
  ["octal with many zeros", "https://00000177.0.0.01:P/"],
  ["one octal number", "https://017700000001:P/"],
  ["mixed bases", "https://0x7f.1:P/"],
  ["a final dot after an address", "https://127.0.0.1.:P/"],
  ["percent-encoded digits", "https://%31%32%37.0.0.1:P/"],
  ["a percent-encoded dot", "https://127%2e0%2e0%2e1:P/"],
  ["ideographic full stops", "https://127。0。0。1:P/"],
  ["half-width full stops", "https://127｡0｡0｡1:P/"],
  ["full-width digits", "https://１２７.０.０.１:P/"],
  ["encircled digits", "https://①②⑦.⓪.⓪.①:P/"],
  ["a soft hyphen in an address", "https://127.0.0.\u00ad1:P/"],
  ["the address 0.0.0.0", "https://0.0.0.0:P/"],
  ["the address 0", "https://0:P/"],
  ["loopback of IPv6", "https://[::1]:P/"],
  ["loopback of IPv6 in full", "https://[0:0:0:0:0:0:0:1]:P/"],
  ["the unspecified address of IPv6", "https://[::]:P/"],
  ["IPv4 mapped into IPv6", "https://[::ffff:127.0.0.1]:P/"],
  ["mapped loopback in hexadecimal", "https://[::ffff:7f00:1]:P/"],
  ["IPv4-compatible", "https://[::127.0.0.1]:P/"],
  ["NAT64", "https://[64:ff9b::127.0.0.1]:P/"],
  ["6to4", "https://[2002:7f00:0001::]:P/"],
  ["a zone in an address", "https://[fe80::1%25eth0]:P/"],
  ["private, 10", "https://10.0.0.1:P/"],
  ["private, 172", "https://172.16.0.1:P/"],
  ["private, 192", "https://192.168.0.1:P/"],
  ["unique local", "https://[fd12:3456:789a::1]:P/"],
  ["the metadata of a cloud", "https://169.254.169.254:P/latest/meta-data/"],
  ["the metadata address as a number", "https://2852039166:P/"],
  ["the metadata address mapped", "https://[::ffff:169.254.169.254]:P/"],
  ["the metadata over IPv6", "https://[fd00:ec2::254]:P/"],
  ["a name of the metadata address", "https://metadata.google.internal:P/"],
  ["localhost", "https://localhost:P/"],
  ["localhost with a final dot", "https://localhost.:P/"],
  ["localhost in capitals", "https://LOCALHOST:P/"],
  ["localhost in full width", "https://ｌｏｃａｌｈｏｓｔ:P/"],
  ["a name below localhost", "https://a.localhost:P/"],
  ...Object.keys(ZONE)
    .filter((name) => name !== "a.test" && name !== "localhost")
    .map((name) => [`the name ${name}`, `https://${name}:P/`] as const),
  ["a final dot after a name", "https://loop.test.:P/"],
  ["two final dots", "https://loop.test..:P/"],
  ["a name in capitals", "https://LOOP.TEST:P/"],
  ["a name with look-alikes", "https://ｌｏｏｐ。ｔｅｓｔ:P/"],
  ["a name that does not exist", "https://nobody.test:P/"],
  ["a user name", "https://a.test@127.0.0.1:P/"],
  ["a user name that looks like a port", "https://a.test:443@127.0.0.1:P/"],
  ["a user name before a good host", "https://user@a.test:P/"],
  ["an empty user name", "https://@a.test:P/"],
  ["a password", "https://:secret@a.test:P/"],
  ["a backslash before the at", "https://a.test\\@127.0.0.1:P/"],
  ["a backslash for a slash", "https:\\\\127.0.0.1:P\\"],
  ["a line end in the host", "https://127.0.0\n.1:P/"],
  ["a tab in the scheme", "ht\ttps://127.0.0.1:P/"],
  ["a blank at its beginning", " https://127.0.0.1:P/"],
  ["a header in the path", "https://a.test:P/\r\nX-Injected: 1"],
  ["one slash too few", "https:/127.0.0.1:P/"],
  ["a URL without a slash", "https:127.0.0.1:P/"],
  ["one slash too many", "https:///127.0.0.1:P/"],
  ["plain http", "http://a.test:P/"],
  ["another scheme", "ftp://a.test:P/"],
  ["a file", "file:///etc/passwd"],
  ["a URL without a scheme", "//127.0.0.1:P/"],
  ["a data URL", "data:text/plain,hello"],
  ["a socket of this machine", "unix:/var/run/docker.sock"],
  ["a text that is no URL", "127.0.0.1"],
  ["a URL without a host", "https://:P/"],
];

test.each(URLS)("the client refuses to call %s: %s", async (_what, template) => {
  const { port, connections } = await listenPlain();
  const url = template.replaceAll(":P", `:${port}`);
  const client = createClient(createZoneDns(ZONE), port);

  const fault = await client.check(url);
  const outcome = await client.call(posted(url));

  expect(fault, "it may be registered").toBeDefined();
  expect(outcome).toEqual({ kind: "failed", why: fault });
  expect(connections).toEqual([]);
});

test.each([
  `https://${"a".repeat(64)}.test/`,
  `https://${"a.".repeat(125)}test/`,
  "https://a..test/",
  "https://.a.test/",
])("the registration refuses %s, which cannot be a host", async (url) => {
  expect(await createClient(createZoneDns(ZONE), 443).check(url)).toBe("bad_url");
});

test("the table of private addresses has its expected length", () => {
  expect(URLS.length).toBeGreaterThanOrEqual(60);
});

test("the listener of the test gets a connection without the guard", async () => {
  const { port, connections } = await listenPlain((socket) => void socket.destroy());
  const client = createClient(createZoneDns(ZONE), port, ["127.0.0.0/8"]);

  await client.call(posted(`https://127.1:${port}/`));

  expect(connections).toEqual(["127.0.0.1"]);
});

/** Another answer each time a name is asked for. */
const turning = (...answers: readonly (readonly string[])[]): Dns => {
  let lookups = 0;
  const dns = async (type: string) => {
    if (type !== "A") return { kind: "nodata" };
    const records = answers[Math.min(lookups++, answers.length - 1)];
    return { kind: "ok", records };
  };
  return dns as Dns;
};

test("a name that changes between check and connect leads to the checked address", async () => {
  onTestFinished(trustSelfSigned());
  const { port, connections } = await listenSecure((_, answer) => void answer.end("ok"));
  const client = createClient(turning([OPEN], ["127.0.0.1"]), port);

  expect(await client.call(posted(`https://${NAME}:${port}/`))).toMatchObject({ status: 200 });
  expect(connections).toEqual([OPEN]);
});

test("the client refuses a name that became private after its registration", async () => {
  const { port, connections } = await listenPlain();
  const client = createClient(turning([OPEN], ["127.0.0.1"]), port);
  const url = `https://${NAME}:${port}/`;

  expect(await client.check(url)).toBeUndefined();
  expect(await client.call(posted(url))).toEqual({ kind: "failed", why: "private_address" });
  expect(connections).toEqual([]);
});

test.each([301, 302, 303, 307, 308])(
  "the client does not follow a redirect with %i to a private address",
  async (status) => {
    onTestFinished(trustSelfSigned());
    const inner = await listenPlain();
    const location = `https://127.0.0.1:${inner.port}/latest/meta-data/`;
    const { port } = await listenSecure(
      (_, answer) => void answer.writeHead(status, { location }).end(),
    );
    const client = createClient(createZoneDns({ [NAME]: { A: [OPEN] } }), port);

    expect(await client.call(posted(`https://${NAME}:${port}/`))).toMatchObject({
      kind: "answer",
      status,
    });
    expect(inner.connections).toEqual([]);
  },
);

test("the client ignores an alternative service in an answer's header", async () => {
  onTestFinished(trustSelfSigned());
  const inner = await listenPlain();
  const headers = {
    "alt-svc": `h2="127.0.0.1:${inner.port}"`,
    refresh: `0; url=https://127.0.0.1:${inner.port}/`,
    link: `<https://127.0.0.1:${inner.port}/>; rel=preload`,
  };
  const { port } = await listenSecure((_, answer) => void answer.writeHead(200, headers).end());
  const client = createClient(createZoneDns({ [NAME]: { A: [OPEN] } }), port);

  for (let times = 0; times < 2; times++)
    expect(await client.call(posted(`https://${NAME}:${port}/`))).toMatchObject({ status: 200 });
  expect(inner.connections).toEqual([]);
});

test("the client calls localhost in either family when an operator allowed its address", async () => {
  const { port, connections } = await listenPlain((socket) => void socket.destroy());

  for (const open of ["127.0.0.0/8", "::1/128"])
    await createClient(createZoneDns(ZONE), 443, [open]).call(posted(`https://localhost:${port}/`));

  expect(connections).toEqual(["127.0.0.1", "::1"]);
});

test("the client refuses another port than 443, unless an operator allowed the address", async () => {
  const { port, connections } = await listenPlain((socket) => void socket.destroy());
  const open = createZoneDns({ "a.test": { A: ["8.8.8.8"] } });

  expect(await createClient(open, 443).check(`https://a.test:${port}/`)).toBe("port_not_allowed");
  expect(await createClient(open, 443, []).check("https://nobody.test:22/")).toBe(
    "port_not_allowed",
  );
  expect(await createClient(open, 443, []).check("https://nobody.test/")).toBe("name_not_found");
  expect(await createClient(open, 443).check("https://a.test/")).toBeUndefined();
  expect(await createClient(open, 443).check("https://a.test:443/")).toBeUndefined();
  expect(await createClient(open, 443).check(`https://${OPEN}:${port}/`)).toBeUndefined();
  expect(connections).toEqual([]);
});
