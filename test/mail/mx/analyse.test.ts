import { parseCidr } from "@mailproof/mail/ip";
import { analyseMx } from "@mailproof/mail/mx/analyse";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";

const DOMAIN = "example.com";
const HOST = { A: ["8.8.8.8"] };
const NS = ["ns1.example.net", "ns2.example.net"];

const whenAnalysed = (names: Zone, allowed: readonly string[] = []) =>
  analyseMx(createZoneDns(names), {
    domain: DOMAIN,
    allowed: allowed.flatMap((text) => parseCidr(text) ?? []),
  });

const mx = (...MX: string[]) => ({ MX, NS });
const hosts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, HOST]));

type Row = readonly [
  what: string,
  zone: Zone,
  issues: readonly string[],
  score: number | null,
  hasValidMx: boolean | null,
];

const TWO = {
  "a.example.net": { A: ["8.8.8.8"] },
  "b.example.net": { A: ["1.1.1.1"] },
};

test.each(asRows<Row>`
  two hosts in two places | ${{ [DOMAIN]: mx("10 a.example.net", "20 b.example.net"), ...TWO }} | [] | 100 | true
  no such domain | ${{}} | [MX_NXDOMAIN] | 0 | false
  a domain with only a TXT record | ${{ [DOMAIN]: { TXT: ["hi"] } }} | [MX_NONE_NO_A] | 0 | false
  a name that only has names below it | ${{ "www.example.com": HOST }} | [MX_NONE_NO_A] | 0 | false
  an address and no MX | ${{ [DOMAIN]: HOST }} | [MX_SINGLE MX_IMPLICIT] | 60 | true
  an IPv6 address and no MX | ${{ [DOMAIN]: { AAAA: ["2606:4700::1"] } }} | [MX_SINGLE MX_IMPLICIT] | 60 | true
  a private address and no MX | ${{ [DOMAIN]: { A: ["10.0.0.1"] } }} | [MX_TARGET_PRIVATE MX_SINGLE MX_IMPLICIT] | 0 | false
  a null MX | ${{ [DOMAIN]: mx("0 .") }} | [MX_NULL] | 0 | false
  a null MX at another preference | ${{ [DOMAIN]: mx("10 .") }} | [MX_NULL] | 0 | false
  a null MX beside others | ${{ [DOMAIN]: mx("0 .", "10 a.example.net", "20 b.example.net"), ...TWO }} | [MX_NULL_MIXED] | 40 | true
  one host that is an alias | ${{ [DOMAIN]: mx("10 a.example.net", "20 alias.example.net"), ...TWO, "alias.example.net": { CNAME: ["b.example.net"] } }}
    | [MX_TARGET_CNAME] | 85 | true
  only an address as host | ${{ [DOMAIN]: mx("10 8.8.8.8") }} | [MX_TARGET_IP MX_SINGLE] | 60 | false
  an address as host beside a good one | ${{ [DOMAIN]: mx("10 [8.8.8.8]", "20 a.example.net"), ...TWO }} | [MX_TARGET_IP MX_SINGLE] | 85 | true
  only a host that does not exist | ${{ [DOMAIN]: mx("10 gone.example.net") }} | [MX_TARGET_NX MX_SINGLE] | 40 | false
  a host without address beside a good one | ${{ [DOMAIN]: mx("10 gone.example.net", "20 a.example.net"), ...TWO }} | [MX_TARGET_NX MX_SINGLE] | 85 | true
  only a private host | ${{ [DOMAIN]: mx("10 in.example.net"), "in.example.net": { A: ["192.168.1.1"] } }} | [MX_TARGET_PRIVATE MX_SINGLE] | 20 | false
  localhost | ${{ [DOMAIN]: mx("10 localhost") }} | [MX_TARGET_PRIVATE MX_SINGLE] | 20 | false
  a private host beside a good one | ${{ [DOMAIN]: mx("10 in.example.net", "20 a.example.net"), ...TWO, "in.example.net": { A: ["10.1.1.1"] } }} | [MX_TARGET_PRIVATE]
    | 85 | true
  a host with a private and a public address is public
    | ${{ [DOMAIN]: mx("10 both.example.net", "20 b.example.net"), ...TWO, "both.example.net": { A: ["10.1.1.1"], AAAA: ["2606:4700::1"] } }} | [] | 100 | true
  one host | ${{ [DOMAIN]: mx("10 a.example.net"), ...TWO }} | [MX_SINGLE] | 100 | true
  two hosts at one address | ${{ [DOMAIN]: mx("10 c.example.net", "20 d.example.net"), ...hosts("c.example.net", "d.example.net") }} | [MX_SINGLE] | 100 | true
  a host named twice | ${{ [DOMAIN]: mx("10 a.example.net", "20 A.EXAMPLE.net", "30 b.example.net"), ...TWO }} | [MX_DUP] | 97 | true
  one name server | ${{ [DOMAIN]: { MX: ["10 a.example.net", "20 b.example.net"], NS: ["ns1.example.net"] }, ...TWO }} | [NS] | 95 | true
  SERVFAIL | ${{ [DOMAIN]: "SERVFAIL" }} | [MX_SERVFAIL] | null | null
  a refusal | ${{ [DOMAIN]: "REFUSED" }} | [MX_SERVFAIL] | null | null
  no answer | ${{ [DOMAIN]: "TIMEOUT" }} | [MX_TIMEOUT] | null | null
  no MX, and no answer about addresses | ${{ [DOMAIN]: { A: "TIMEOUT" } }} | [MX_TIMEOUT] | null | null
  the only host is silent | ${{ [DOMAIN]: mx("10 a.example.net"), "a.example.net": "TIMEOUT" }} | [MX_SINGLE] | null | null
  one host is silent and another is there | ${{ [DOMAIN]: mx("10 s.example.net", "20 b.example.net"), ...TWO, "s.example.net": "TIMEOUT" }} | [MX_SINGLE] | 100 | true
  one host is silent and another is gone | ${{ [DOMAIN]: mx("10 s.example.net", "20 gone.example.net"), "s.example.net": "SERVFAIL" }} | [MX_TARGET_NX] | null | null
`)("the MX analysis returns issues and score: %s", async (_, names, issues, score, hasValidMx) => {
  const found = await whenAnalysed(names);

  expect(found.issues.map(({ id }) => id)).toEqual(issues);
  expect(found).toMatchObject({ score, hasValidMx });
});

test("the analysis lists the records by preference, each with its address if there is one", async () => {
  const { records } = await whenAnalysed({
    [DOMAIN]: mx("20 B.example.net", "10 gone.example.net", "0 ."),
    ...TWO,
  });

  expect(records).toEqual([
    { priority: 0, host: ".", ip: null },
    { priority: 10, host: "gone.example.net", ip: null },
    { priority: 20, host: "b.example.net", ip: "1.1.1.1" },
  ]);
});

test("a domain without an MX record is its own mail host", async () => {
  const { records } = await whenAnalysed({ [DOMAIN]: HOST });

  expect(records).toEqual([{ priority: 0, host: DOMAIN, ip: "8.8.8.8" }]);
});

test("an address that a lab allows counts as public", async () => {
  const names = { [DOMAIN]: mx("10 in.example.net"), "in.example.net": { A: ["127.77.0.1"] } };

  expect(await whenAnalysed(names, ["127.77.0.0/16"])).toMatchObject({
    hasValidMx: true,
    score: 100,
  });
});

test("the analysis looks up ten of a hundred MX hosts, and leaves the rest open", async () => {
  const names = {
    [DOMAIN]: mx(...Array.from({ length: 100 }, (_, n) => `${n} h${n}.example.net`)),
  };
  const dns = createZoneDns(names);

  const found = await analyseMx(dns, { domain: DOMAIN, allowed: [] });

  expect(found).toMatchObject({ score: null, hasValidMx: null });
  expect(dns.calls.filter((call) => call.startsWith("A "))).toHaveLength(10);
});
