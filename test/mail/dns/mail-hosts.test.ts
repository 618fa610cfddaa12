import { type DnsFault, findMailHosts, type MailHosts } from "@mailproof/mail/dns/mail-hosts";
import { analyseReverseDns } from "@mailproof/mail/dns/reverse-dns";
import { parseCidr } from "@mailproof/mail/ip";
import { describe, expect, test } from "vitest";
import { createZoneDns, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";

const whenFound = async (names: Zone, domain = "example.com", allowed: readonly string[] = []) => {
  const dns = createZoneDns(names);
  const blocks = allowed.flatMap((text) => parseCidr(text) ?? []);
  const { dnsQueries: questions, ...found } = await findMailHosts(dns, domain, blocks);
  return { found, asked: questions, calls: dns.calls };
};

const HOST = { A: ["8.8.8.8"] };
const at = (host: string, priority: number, ...ips: string[]) => ({ host, priority, ips });
const hosts = (...list: ReturnType<typeof at>[]): MailHosts => ({
  kind: "hosts",
  hosts: list,
  implicit: false,
});
const inconclusive = (why: DnsFault): MailHosts => ({
  kind: "inconclusive",
  why,
});

const rows: [string, Zone, MailHosts][] = asRows`
  no name, no mail | ${{}} | ${{ kind: "domain_not_found" }}
  a name with nothing at it | ${{ "example.com": { TXT: ["hello"] } }} | ${{ kind: "no_mail_host" }}
  a name that only has names below it | ${{ "a.example.com": HOST }} | ${{ kind: "no_mail_host" }}
  MX hosts come by preference
    | ${{ "example.com": { MX: ["20 b.example.net", "10 a.example.net"] }, "a.example.net": { A: ["8.8.8.8", "8.8.4.4"] }, "b.example.net": { A: ["1.1.1.1"] } }}
    | ${hosts(at("a.example.net", 10, "8.8.8.8", "8.8.4.4"), at("b.example.net", 20, "1.1.1.1"))}
  equal preferences keep the order of the answer | ${{ "example.com": { MX: ["5 b.example.net", "5 a.example.net"] }, "a.example.net": HOST, "b.example.net": HOST }}
    | ${hosts(at("b.example.net", 5, "8.8.8.8"), at("a.example.net", 5, "8.8.8.8"))}
  a host named twice counts once, at its best, in lower case | ${{ "example.com": { MX: ["30 MX.Example.NET", "10 mx.example.net"] }, "mx.example.net": HOST }}
    | ${hosts(at("mx.example.net", 10, "8.8.8.8"))}
  an address given twice is tried once | ${{ "example.com": { MX: ["1 mx.example.net"] }, "mx.example.net": { A: ["8.8.8.8", "8.8.8.8"] } }}
    | ${hosts(at("mx.example.net", 1, "8.8.8.8"))}
  an MX host that is an alias is followed
    | ${{ "example.com": { MX: ["10 mx.example.com"] }, "mx.example.com": { CNAME: ["real.example.net"] }, "real.example.net": HOST }}
    | ${hosts(at("mx.example.com", 10, "8.8.8.8"))}
  a domain that is an alias has the MX of its target
    | ${{ "example.com": { CNAME: ["example.net"] }, "example.net": { MX: ["10 mx.example.net"] }, "mx.example.net": HOST }}
    | ${hosts(at("mx.example.net", 10, "8.8.8.8"))}
  a host that does not exist is passed over | ${{ "example.com": { MX: ["10 gone.example.net", "20 mx.example.net"] }, "mx.example.net": HOST }}
    | ${hosts(at("mx.example.net", 20, "8.8.8.8"))}
  a host in trouble is passed over when another answers
    | ${{ "example.com": { MX: ["10 slow.example.net", "20 mx.example.net"] }, "slow.example.net": "TIMEOUT", "mx.example.net": HOST }}
    | ${hosts(at("mx.example.net", 20, "8.8.8.8"))}
  a null MX | ${{ "example.com": { MX: ["0 ."] } }} | ${{ kind: "null_mx" }}
  a null MX does not fall back to the domain's own address | ${{ "example.com": { MX: ["0 ."], ...HOST } }} | ${{ kind: "null_mx" }}
  a null MX among others names nothing | ${{ "example.com": { MX: ["0 .", "10 mx.example.net"] }, "mx.example.net": HOST }}
    | ${hosts(at("mx.example.net", 10, "8.8.8.8"))}
  without MX the domain is its own host | ${{ "example.com": HOST }} | ${{ kind: "hosts", hosts: [at("example.com", 0, "8.8.8.8")], implicit: true }}
  without MX an IPv6 address will do | ${{ "example.com": { AAAA: ["2606:4700::1"] } }}
    | ${{ kind: "hosts", hosts: [at("example.com", 0, "2606:4700::1")], implicit: true }}
  a private address of the domain itself | ${{ "example.com": { A: ["127.0.0.1"] } }} | ${{ kind: "mx_unroutable" }}
  without MX, and the address in trouble | ${{ "example.com": { A: "SERVFAIL" } }} | ${inconclusive("servfail")}
  // Our own trouble is never an answer, and never a reason to try the domain's own address.
  MX in trouble: SERVFAIL | ${{ "example.com": { MX: "SERVFAIL", ...HOST } }} | ${inconclusive("servfail")}
  MX in trouble: REFUSED | ${{ "example.com": { MX: "REFUSED", ...HOST } }} | ${inconclusive("refused")}
  MX in trouble: silence | ${{ "example.com": { MX: "TIMEOUT", ...HOST } }} | ${inconclusive("timeout")}
  one host is gone and one in trouble | ${{ "example.com": { MX: ["10 gone.example.net", "20 slow.example.net"] }, "slow.example.net": "TIMEOUT" }}
    | ${inconclusive("timeout")}
  one host is private and one in trouble
    | ${{ "example.com": { MX: ["10 in.example.net", "20 slow.example.net"] }, "in.example.net": { A: ["10.0.0.1"] }, "slow.example.net": { A: "REFUSED" } }}
    | ${inconclusive("refused")}
  a host without IPv4 whose IPv6 is in trouble | ${{ "example.com": { MX: ["1 mx.example.net"] }, "mx.example.net": { AAAA: "SERVFAIL" } }}
    | ${inconclusive("servfail")}
  hosts that do not exist | ${{ "example.com": { MX: ["10 gone.example.net", "20 lost.example.net"], ...HOST } }} | ${{ kind: "no_mail_host" }}
  a host without any address | ${{ "example.com": { MX: ["10 mx.example.net"] }, "mx.example.net": { TXT: ["here"] } }} | ${{ kind: "no_mail_host" }}
  only the public addresses of a host are kept
    | ${{ "example.com": { MX: ["10 mx.example.net"] }, "mx.example.net": { A: ["10.0.0.1", "8.8.8.8", "169.254.169.254"] } }}
    | ${hosts(at("mx.example.net", 10, "8.8.8.8"))}
  a host with private addresses alone
    | ${{ "example.com": { MX: ["10 mx.example.net"] }, "mx.example.net": { A: ["192.168.1.1"], AAAA: ["::ffff:10.0.0.1", "fd00::1"] } }} | ${{ kind: "mx_unroutable" }}
  a host that is private over IPv4 and public over IPv6
    | ${{ "example.com": { MX: ["10 mx.example.net"] }, "mx.example.net": { A: ["192.168.1.1"], AAAA: ["2606:4700::1"] } }}
    | ${hosts(at("mx.example.net", 10, "2606:4700::1"))}
  an alias that leads inside
    | ${{ "example.com": { MX: ["10 mx.example.net"] }, "mx.example.net": { CNAME: ["inside.example.net"] }, "inside.example.net": { A: ["172.16.0.1"] } }}
    | ${{ kind: "mx_unroutable" }}
  one host is private and one is gone | ${{ "example.com": { MX: ["10 in.example.net", "20 gone.example.net"] }, "in.example.net": { A: ["10.0.0.1"] } }}
    | ${{ kind: "mx_unroutable" }}
`;

test.each(rows)(
  "the mail host look-up returns the expected hosts: %s",
  async (_, names, expected) => {
    const { found } = await whenFound(names);

    expect(found).toEqual(expected);
  },
);

test.each([
  "8.8.8.8",
  "127.0.0.1",
  "[8.8.8.8]",
  "2606:4700::1",
  "[IPv6:2606:4700::1]",
  "localhost",
  "LOCALHOST.",
  "mx.localhost",
])("the look-up does not follow an MX of %s, and sends no query about it", async (exchange) => {
  const { found, calls } = await whenFound({ "example.com": { MX: [`10 ${exchange}`] } });

  expect(found).toEqual({ kind: "mx_unroutable" });
  expect(calls).toEqual(["MX example.com"]);
});

test("an operator's lab may use private addresses", async () => {
  const names = {
    "example.com": { MX: ["10 mx.example.net"] },
    "mx.example.net": { A: ["127.0.0.1", "10.0.0.1"] },
  };

  const { found } = await whenFound(names, "example.com", ["127.0.0.0/8"]);

  expect(found).toEqual(hosts(at("mx.example.net", 10, "127.0.0.1")));
});

const many = (count: number, records: Zone[string] | undefined) => {
  const names = Array.from({ length: count }, (_, n) => `mx${n}.example.net`);
  return {
    "example.com": { MX: names.map((name, n) => `${n} ${name}`) },
    ...(records && Object.fromEntries(names.map((name) => [name, records]))),
  };
};

test("the look-up asks for no IPv6 address when an IPv4 address exists", async () => {
  const { calls } = await whenFound({
    "example.com": { MX: ["10 mx.example.net"] },
    "mx.example.net": { A: ["8.8.8.8"], AAAA: ["2606:4700::1"] },
  });

  expect(calls).toEqual(["MX example.com", "A mx.example.net"]);
});

test("the look-up asks for no IPv6 address when the name does not exist", async () => {
  const { calls } = await whenFound({ "example.com": { MX: ["10 gone.example.net"] } });

  expect(calls).toEqual(["MX example.com", "A gone.example.net"]);
});

test("the look-up stops at three hosts with an address among ten thousand", async () => {
  const { found, calls } = await whenFound(many(10_000, HOST));

  expect(found).toEqual(
    hosts(
      at("mx0.example.net", 0, "8.8.8.8"),
      at("mx1.example.net", 1, "8.8.8.8"),
      at("mx2.example.net", 2, "8.8.8.8"),
    ),
  );
  expect(calls).toHaveLength(4);
});

test("the look-up stops after ten hosts, and then returns inconclusive by our own limit", async () => {
  const { found, calls } = await whenFound(many(10_000, { A: ["10.0.0.1"] }));

  expect(found).toEqual(inconclusive("too_large"));
  expect(calls).toHaveLength(21);
});

test("the look-up returns an answer when it examined all of ten hosts", async () => {
  const { found } = await whenFound(many(10, undefined));

  expect(found).toEqual({ kind: "no_mail_host" });
});

test("later hosts replace hosts without an address", async () => {
  const { found } = await whenFound({
    "example.com": {
      MX: ["1 a.test", "2 b.test", "3 c.test", "4 d.test", "5 e.test", "6 f.test"],
    },
    ...Object.fromEntries(["b.test", "d.test", "e.test", "f.test"].map((name) => [name, HOST])),
  });

  expect(found.kind === "hosts" && found.hosts.map(({ host }) => host)).toEqual([
    "b.test",
    "d.test",
    "e.test",
  ]);
});

test("the evidence lists every DNS query with its outcome", async () => {
  const { asked: questions } = await whenFound({
    "example.com": { MX: ["10 mx.example.net", "20 gone.example.net"] },
    "mx.example.net": { A: ["8.8.8.8", "10.0.0.1"] },
  });

  expect(questions).toEqual([
    {
      type: "MX",
      name: "example.com",
      kind: "ok",
      records: [
        { priority: 10, exchange: "mx.example.net" },
        { priority: 20, exchange: "gone.example.net" },
      ],
      count: 2,
    },
    { type: "A", name: "mx.example.net", kind: "ok", records: ["8.8.8.8", "10.0.0.1"], count: 2 },
    { type: "A", name: "gone.example.net", kind: "nxdomain", records: [], count: 0 },
  ]);
});

test("the evidence counts a huge answer whole, and keeps a part", async () => {
  const MX = Array.from({ length: 5000 }, () => "10 mx.example.net");

  const { asked: questions } = await whenFound({ "example.com": { MX }, "mx.example.net": HOST });

  expect(questions[0]?.count).toBe(5000);
  expect(questions[0]?.records).toHaveLength(20);
});

test.each(["0.0.0.0", "198.18.0.7", "198.19.255.1"])(
  "an answer of %s in place of an address blames our own network, and not the domain",
  async (ip) => {
    const dns = createZoneDns({
      "example.com": { MX: ["10 mx.example.com"] },
      "mx.example.com": { A: [ip] },
    });

    expect(await findMailHosts(dns, "example.com", [])).toMatchObject({
      kind: "inconclusive",
      why: "refused",
    });
  },
);

describe("the names of an address", () => {
  const IP = "192.0.2.25";
  const REVERSE = "25.2.0.192.in-addr.arpa";
  const named = (...PTR: string[]) => ({ [REVERSE]: { PTR } });
  const at = (...names: string[]): Zone =>
    Object.fromEntries(names.map((name) => [name, { A: [IP] }]));

  type Row = readonly [what: string, zone: Zone, issues: readonly string[], score: number | null];

  test.each(asRows<Row>`
  a name that leads back | ${{ ...named("mail.example.com"), ...at("mail.example.com") }} | [] | 100
  no name | ${{}} | [PTR_MISSING] | 0
  a reverse zone without this name | ${{ [REVERSE]: { TXT: ["x"] } }} | [PTR_MISSING] | 0
  a name that does not exist | ${named("mail.example.com")} | [PTR_MISMATCH] | 40
  a name that leads elsewhere | ${{ ...named("mail.example.com"), "mail.example.com": { A: ["192.0.2.26"] } }} | [PTR_MISMATCH] | 40
  a pool's name that leads nowhere | ${named("host-192-0-2-25.example.net")} | [PTR_MISMATCH PTR_GENERIC] | 15
  several names, the second leads back | ${{ ...named("gone.example.com", "mail.example.com"), ...at("mail.example.com") }} | [PTR_SEVERAL] | 95
  no answer | ${{ [REVERSE]: "TIMEOUT" }} | [] | null
  a name whose server is silent | ${{ ...named("mail.example.com"), "mail.example.com": "SERVFAIL" }} | [] | null
  a name that leads back, beside one whose server is silent | ${{ ...named("s.example.com", "mail.example.com"), "s.example.com": "TIMEOUT", ...at("mail.example.com") }}
    | [PTR_SEVERAL] | 95
`)("the reverse DNS analysis returns issues and score for %s", async (_, names, issues, score) => {
    const found = await analyseReverseDns(createZoneDns(names), IP);

    expect(found.issues.map(({ id }) => id)).toEqual(issues);
    expect(found.score).toBe(score);
  });

  test.each([
    ["192-0-2-25.static.example.net", true],
    ["25.2.0.192.example.net", true],
    ["ip192.0.2.25.example.net", true],
    ["192000002025.example.net", true],
    ["dynamic.example.net", true],
    ["dynamicip12.example.net", true],
    ["dhcp-12.example.net", true],
    ["pool7.example.net", true],
    ["adsl.example.net", true],
    ["vdsl-9.example.net", true],
    ["ppp1.example.net", true],
    ["cable-3.example.net", true],
    ["ec2-1.compute-1.example.net", true],
    ["mail.example.com", false],
    ["1192-0-2-255.example.net", false],
    ["whirlpool.example.com", false],
    ["mail.cablecom.example", false],
    ["static-1.example.com", false],
  ])("the analysis recognizes %s as the name of a pool: %s", async (name, isGeneric) => {
    const { issues } = await analyseReverseDns(createZoneDns({ ...named(name), ...at(name) }), IP);

    expect(issues.map(({ id }) => id)).toEqual(isGeneric ? ["PTR_GENERIC"] : []);
  });

  test("the analysis shows the host name that leads back to the address", async () => {
    const names = { ...named("a.example.com", "MAIL.example.com"), ...at("mail.example.com") };

    expect(await analyseReverseDns(createZoneDns(names), IP)).toMatchObject({
      name: "mail.example.com",
      isConfirmed: true,
    });
  });

  test("the analysis looks up ten of a hundred names", async () => {
    const dns = createZoneDns(named(...Array.from({ length: 100 }, (_, n) => `n${n}.example.com`)));

    await analyseReverseDns(dns, IP);

    expect(dns.calls).toHaveLength(11);
  });

  test("the look-up of an IPv6 address uses its nibbles, and AAAA records confirm its name", async () => {
    const reverse = `1.${"0.".repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`;
    const names = {
      [reverse]: { PTR: ["mail.example.com"] },
      "mail.example.com": { AAAA: ["2001:DB8::1"] },
    };

    expect(await analyseReverseDns(createZoneDns(names), "2001:db8::1")).toMatchObject({
      isConfirmed: true,
    });
  });
});
