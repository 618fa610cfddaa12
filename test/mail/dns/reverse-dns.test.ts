import { analyseReverseDns } from "@mailproof/mail/dns/reverse-dns";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";

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
