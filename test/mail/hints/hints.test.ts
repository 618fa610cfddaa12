import { findDaneHints } from "@mailproof/mail/hints/dane";
import type { FetchedDocument } from "@mailproof/mail/hints/fetched-document";
import { findMtaStsHints } from "@mailproof/mail/hints/mta-sts";
import { findTlsRptHints } from "@mailproof/mail/hints/tls-rpt";
import { expect, test } from "vitest";
import { createZoneDns, type Records, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";

const DOMAIN = "example.com";
const at = (name: string, TXT: Records["TXT"]) =>
  createZoneDns({ [`${name}.${DOMAIN}`]: { TXT } as Records });
const getIds = (issues: readonly { readonly id: string }[]) => issues.map(({ id }) => id);

const RECORD = "v=STSv1; id=20261121T000000;";
const POLICY = "version: STSv1\r\nmode: enforce\r\nmx: mx.example.com\r\nmax_age: 604800\r\n";
const answer = (
  body = POLICY,
  status = 200,
  contentType = "text/plain; charset=utf-8",
): FetchedDocument => ({
  kind: "answer",
  status,
  contentType,
  body,
  isComplete: true,
});

test.each<readonly [what: string, TXT: Records["TXT"], ids: readonly string[]]>([
  ["a sound record", [RECORD], []],
  ["another text beside it", ["hello", RECORD], []],
  ["no record", [], ["MTA_STS_MISSING"]],
  ["a record of another version", ["v=STSv2; id=1;"], ["MTA_STS_MISSING"]],
  ["two records", [RECORD, RECORD], ["MTA_STS_BAD"]],
  ["no id", ["v=STSv1;"], ["MTA_STS_BAD"]],
  ["a version and nothing else", ["v=STSv1"], ["MTA_STS_BAD"]],
  ["a version without its semicolon", ["v=STSv1 id=1"], ["MTA_STS_BAD"]],
  ["a version in small letters", ["v=stsv1; id=1"], ["MTA_STS_BAD"]],
  ["a whole record beside a broken one", ["v=STSv1; id=1", "v=STSv1"], []],
  ["an id with a hyphen", ["v=STSv1; id=2026-11-21"], ["MTA_STS_BAD"]],
  ["an id that stands twice", ["v=STSv1; id=1; id=1"], ["MTA_STS_BAD"]],
  ["a field of the future that stands twice", ["v=STSv1; id=1; a=1; a=2"], []],
  ["an id that is too long", [`v=STSv1; id=${"1".repeat(33)}`], ["MTA_STS_BAD"]],
  ["no answer", "TIMEOUT", []],
])("MTA-STS in DNS: %s", async (_, TXT, ids) => {
  expect(
    getIds(await findMtaStsHints(at("_mta-sts", TXT), { domain: DOMAIN, mxHosts: [] })),
  ).toEqual(ids);
});

test.each(asRows<readonly [what: string, fetched: FetchedDocument, ids: readonly string[]]>`
  in force | ${answer()} | []
  with bare line feeds | ${answer(POLICY.replaceAll("\r\n", "\n"))} | []
  with a wildcard | ${answer(POLICY.replace("mx: mx.", "mx: *."))} | []
  in test | ${answer(POLICY.replace("enforce", "testing"))} | [MTA_STS_NOT_ENFORCED]
  withdrawn | ${answer("version: STSv1\nmode: none\nmax_age: 0")} | [MTA_STS_NOT_ENFORCED]
  cannot be fetched | ${{ kind: "failed", why: "tls_failed" }} | [MTA_STS_UNCHECKED]
  does not come in time | ${{ kind: "failed", why: "timeout" }} | [MTA_STS_UNCHECKED]
  could not be asked for here | ${{ kind: "failed", why: "internal" }} | [MTA_STS_UNCHECKED]
  comes in part | ${{ kind: "answer", status: 200, contentType: "text/plain", body: POLICY, isComplete: false }} | [MTA_STS_UNCHECKED]
  has a host that does not exist | ${{ kind: "failed", why: "name_not_found" }} | [MTA_STS_BAD]
  is elsewhere | ${answer(POLICY, 301)} | [MTA_STS_BAD]
  is a page | ${answer(POLICY, 200, "text/html")} | [MTA_STS_BAD]
  of another version | ${answer(POLICY.replace("STSv1", "STSv2"))} | [MTA_STS_BAD]
  without a mode | ${answer(POLICY.replace("mode: enforce\r\n", ""))} | [MTA_STS_BAD]
  without max_age | ${answer(POLICY.replace("max_age: 604800", ""))} | [MTA_STS_BAD]
  for more than a year | ${answer(POLICY.replace("604800", "31557601"))} | [MTA_STS_BAD]
  without mx | ${answer(POLICY.replace("mx: mx.example.com\r\n", ""))} | [MTA_STS_BAD]
  for another host | ${answer(POLICY.replace("mx.example.com", "mx.example.net"))} | [MTA_STS_BAD]
  for a name that only ends alike | ${answer(POLICY.replace("mx.example.com", "*.xample.com"))} | [MTA_STS_BAD]
  for a top-level domain | ${answer(POLICY.replace("mx.example.com", "*.com"))} | [MTA_STS_BAD]
  for every host | ${answer(POLICY.replace("mx.example.com", "*"))} | [MTA_STS_BAD]
  with a wildcard within the name | ${answer(POLICY.replace("mx.example.com", "mx.*.com"))} | [MTA_STS_BAD]
  in capitals | ${answer(POLICY.replace("mx.example.com", "MX.Example.COM"))} | []
  with a final dot | ${answer(POLICY.replace("mx.example.com", "mx.example.com."))} | [MTA_STS_BAD]
  with another host beside it | ${answer(POLICY.replace("mx: mx.", "mx: gone.example.net\r\nmx: mx."))} | []
  whose second mode does not count | ${answer(POLICY.replace("mode: enforce", "mode: enforce\r\nmode: none"))} | []
  with a wildcard of another depth | ${answer(POLICY.replace("mx.example.com", "*.mx.example.com"))} | [MTA_STS_BAD]
`)("an MTA-STS policy %s", async (_, fetched, ids) => {
  const questions: string[] = [];
  const fetchDocument = async (url: string) => {
    questions.push(url);
    return fetched;
  };
  const input = { domain: DOMAIN, mxHosts: ["mx.example.com"], fetchDocument };

  expect(getIds(await findMtaStsHints(at("_mta-sts", [RECORD]), input))).toEqual(ids);
  expect(questions).toEqual(["https://mta-sts.example.com/.well-known/mta-sts.txt"]);
});

test("all mail hosts that a policy does not name are listed", async () => {
  const fetchDocument = async () => answer();
  const mxHosts = ["mx.example.com", "mx2.example.com", "mx3.example.net", "mx2.example.com"];
  const [hint] = await findMtaStsHints(at("_mta-sts", [RECORD]), {
    domain: DOMAIN,
    mxHosts,
    fetchDocument,
  });

  expect(hint?.detail["fault"]).toBe("it does not name mx2.example.com, mx3.example.net");
});

test("no policy is fetched where no record says that there is one", async () => {
  const fetchDocument = () => Promise.reject(new Error("no record says that there is a policy"));
  const input = { domain: DOMAIN, mxHosts: [], fetchDocument };

  expect(getIds(await findMtaStsHints(at("_mta-sts", []), input))).toEqual(["MTA_STS_MISSING"]);
});

test.each<readonly [what: string, TXT: Records["TXT"], ids: readonly string[]]>([
  ["to an address", ["v=TLSRPTv1; rua=mailto:tls@example.com"], []],
  ["to two places", ["v=TLSRPTv1;rua=mailto:a@example.com,https://example.com/r"], []],
  ["not asked for", [], ["TLS_RPT_MISSING"]],
  [
    "asked for twice",
    ["v=TLSRPTv1; rua=mailto:a@b.test", "v=TLSRPTv1; rua=mailto:a@b.test"],
    ["TLS_RPT_BAD"],
  ],
  ["to no address", ["v=TLSRPTv1;"], ["TLS_RPT_BAD"]],
  ["a version and nothing else", ["v=TLSRPTv1"], ["TLS_RPT_BAD"]],
  [
    "to two lists of places",
    ["v=TLSRPTv1; rua=mailto:a@example.com; rua=mailto:b@example.com"],
    ["TLS_RPT_BAD"],
  ],
  [
    "by a version that stands twice",
    ["v=TLSRPTv1; v=TLSRPTv1; rua=mailto:a@b.test"],
    ["TLS_RPT_BAD"],
  ],
  ["to an address without mailto:", ["v=TLSRPTv1; rua=a@example.com"], ["TLS_RPT_BAD"]],
  ["unknown", "SERVFAIL", []],
])("TLS reports are %s", async (_, TXT, ids) => {
  expect(getIds(await findTlsRptHints(at("_smtp._tls", TXT), DOMAIN))).toEqual(ids);
});

const PIN = `3 1 1 ${"a5".repeat(32)}`;
const MX = { MX: ["10 mx1.example.com", "20 mx2.example.net"] };
const [HOST, OTHER] = ["mx1.example.com", "mx2.example.net"];
const NAMES = [`_25._tcp.${HOST}`, `_25._tcp.${OTHER}`];
const HOME: Zone = { [DOMAIN]: MX, com: { NS: ["a.gtld.example"] } };
const pins = (first: Records["TLSA"] | undefined, second: Records["TLSA"] | undefined): Zone => ({
  ...HOME,
  ...(first && { [NAMES[0] ?? ""]: { TLSA: first } as Records }),
  ...(second && { [NAMES[1] ?? ""]: { TLSA: second } as Records }),
});
const ALL = [DOMAIN, "com", ...NAMES];

const whenHinted = (zone: Zone, signed: readonly string[], mxHosts = [HOST, OTHER]) =>
  findDaneHints(createZoneDns(zone, signed), { domain: DOMAIN, mxHosts });

type Row = readonly [
  what: string,
  zone: Zone,
  signed: readonly string[],
  ids: readonly string[],
  reported: readonly string[],
];

test.each(asRows<Row>`
  nothing is signed, and the resolver validates nothing | ${HOME} | [] | [] | []
  the domain is not signed, and the resolver validates | ${HOME} | [com] | [DNSSEC_MISSING] | []
  the domain is signed, and no host pins its key | ${HOME} | ${ALL} | [DANE_MISSING] | []
  every host pins its key | ${pins([PIN], [PIN])} | ${ALL} | [DANE_PRESENT] | ${[HOST, OTHER]}
  one host pins its key | ${pins([PIN], undefined)} | ${ALL} | [DANE_PARTIAL] | ${[HOST, OTHER]}
  the records are not validated | ${pins([PIN], [PIN])} | [] | [DANE_UNSIGNED] | ${[HOST, DOMAIN]}
  the domain is signed, and the zone of one host is not | ${pins([PIN], [PIN])} | ${[DOMAIN, NAMES[0] ?? ""]} | [DANE_UNSIGNED] | ${[`for ${OTHER}`]}
  the hosts are signed, and the domain is not | ${pins([PIN], [PIN])} | ${["com", ...NAMES]} | [DANE_UNSIGNED] | ${[`the MX records of ${DOMAIN}`]}
  the records are for web servers | ${pins([`1 1 1 ${"a5".repeat(32)}`], [PIN])} | ${ALL} | [DANE_BAD] | ${[HOST]}
  a hash has half its length | ${pins([`3 1 2 ${"a5".repeat(32)}`], undefined)} | ${ALL} | [DANE_BAD] | []
  a matching type does not exist | ${pins(["3 1 9 a5"], undefined)} | ${ALL} | [DANE_BAD] | []
  one record of two is of use | ${pins(["1 0 1 a5", "2 0 0 a5a5"], [PIN])} | ${ALL} | [DANE_PRESENT] | []
  a name server fails at the records | ${pins("SERVFAIL", "TIMEOUT")} | ${ALL} | [] | []
  one fails, and one host pins its key | ${pins([PIN], "SERVFAIL")} | ${ALL} | [DANE_PRESENT] | ${[HOST]}
  the MX does not answer | ${{ ...HOME, [DOMAIN]: { MX: "TIMEOUT" } }} | ${ALL} | [] | []
`)("where %s, this is reported", async (_, zone, signed, ids, reported) => {
  const hints = await whenHinted(zone, signed);

  expect(hints.map(({ id }) => id)).toEqual(ids);
  for (const text of reported) expect(hints[0]?.message).toContain(text);
});

test("a signed domain that receives no mail has no key to pin", async () => {
  expect(await whenHinted(HOME, ALL, [])).toEqual([]);
});

test("of a hundred hosts ten are asked for, each once", async () => {
  const dns = createZoneDns(HOME);
  const mxHosts = Array.from({ length: 100 }, (_, n) => `mx${n % 50}.example.com`);

  await findDaneHints(dns, { domain: DOMAIN, mxHosts });

  expect(dns.calls.filter((call) => call.startsWith("TLSA"))).toHaveLength(10);
});
