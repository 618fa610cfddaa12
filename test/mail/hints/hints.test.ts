import { findBimiHints } from "@mailproof/mail/hints/bimi";
import { findDaneHints } from "@mailproof/mail/hints/dane";
import { findEmailVerificationHints } from "@mailproof/mail/hints/email-verification";
import type { FetchedDocument } from "@mailproof/mail/hints/fetched-document";
import { findMtaStsHints } from "@mailproof/mail/hints/mta-sts";
import { findLogoFaults } from "@mailproof/mail/hints/svg-logo";
import { findTlsRptHints } from "@mailproof/mail/hints/tls-rpt";
import { describe, expect, test } from "vitest";
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
])("the MTA-STS hints follow from the DNS record: %s", async (_, TXT, ids) => {
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
  that cannot be fetched | ${{ kind: "failed", why: "tls_failed" }} | [MTA_STS_UNCHECKED]
  that times out | ${{ kind: "failed", why: "timeout" }} | [MTA_STS_UNCHECKED]
  that our own fault hides | ${{ kind: "failed", why: "internal" }} | [MTA_STS_UNCHECKED]
  that arrives in part | ${{ kind: "answer", status: 200, contentType: "text/plain", body: POLICY, isComplete: false }} | [MTA_STS_UNCHECKED]
  at a missing host | ${{ kind: "failed", why: "name_not_found" }} | [MTA_STS_BAD]
  behind a redirect | ${answer(POLICY, 301)} | [MTA_STS_BAD]
  that is an HTML page | ${answer(POLICY, 200, "text/html")} | [MTA_STS_BAD]
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
`)("the MTA-STS hints follow from a policy %s", async (_, fetched, ids) => {
  const questions: string[] = [];
  const fetchDocument = async (url: string) => {
    questions.push(url);
    return fetched;
  };
  const input = { domain: DOMAIN, mxHosts: ["mx.example.com"], fetchDocument };

  expect(getIds(await findMtaStsHints(at("_mta-sts", [RECORD]), input))).toEqual(ids);
  expect(questions).toEqual(["https://mta-sts.example.com/.well-known/mta-sts.txt"]);
});

test("the hint lists every mail host that the policy omits", async () => {
  const fetchDocument = async () => answer();
  const mxHosts = ["mx.example.com", "mx2.example.com", "mx3.example.net", "mx2.example.com"];
  const [hint] = await findMtaStsHints(at("_mta-sts", [RECORD]), {
    domain: DOMAIN,
    mxHosts,
    fetchDocument,
  });

  expect(hint?.detail["fault"]).toBe("it does not name mx2.example.com, mx3.example.net");
});

test("the check fetches no policy when no record announces one", async () => {
  const fetchDocument = () => Promise.reject(new Error("no record says that there is a policy"));
  const input = { domain: DOMAIN, mxHosts: [], fetchDocument };

  expect(getIds(await findMtaStsHints(at("_mta-sts", []), input))).toEqual(["MTA_STS_MISSING"]);
});

test.each(asRows<readonly [what: string, TXT: Records["TXT"], ids: readonly string[]]>`
  to an address | ${["v=TLSRPTv1; rua=mailto:tls@example.com"]} | []
  to two places | [v=TLSRPTv1;rua=mailto:a@example.com,https://example.com/r] | []
  that the domain does not request | [] | [TLS_RPT_MISSING]
  that two records request | ${["v=TLSRPTv1; rua=mailto:a@b.test", "v=TLSRPTv1; rua=mailto:a@b.test"]} | [TLS_RPT_BAD]
  to no address | [v=TLSRPTv1;] | [TLS_RPT_BAD]
  by a version and nothing else | [v=TLSRPTv1] | [TLS_RPT_BAD]
  to two lists of places | ${["v=TLSRPTv1; rua=mailto:a@example.com; rua=mailto:b@example.com"]} | [TLS_RPT_BAD]
  by a repeated version | ${["v=TLSRPTv1; v=TLSRPTv1; rua=mailto:a@b.test"]} | [TLS_RPT_BAD]
  to an address without mailto: | ${["v=TLSRPTv1; rua=a@example.com"]} | [TLS_RPT_BAD]
  behind a failing name server | SERVFAIL | []
`)("the TLS-RPT hints follow from reports %s", async (_, TXT, ids) => {
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
  only one record of two is valid | ${pins(["1 0 1 a5", "2 0 0 a5a5"], [PIN])} | ${ALL} | [DANE_PRESENT] | []
  a name server fails at the records | ${pins("SERVFAIL", "TIMEOUT")} | ${ALL} | [] | []
  one look-up fails, and one host pins its key | ${pins([PIN], "SERVFAIL")} | ${ALL} | [DANE_PRESENT] | ${[HOST]}
  the MX does not answer | ${{ ...HOME, [DOMAIN]: { MX: "TIMEOUT" } }} | ${ALL} | [] | []
`)("the DANE hints follow from signatures and pins: %s", async (_, zone, signed, ids, reported) => {
  const hints = await whenHinted(zone, signed);

  expect(hints.map(({ id }) => id)).toEqual(ids);
  for (const text of reported) expect(hints[0]?.message).toContain(text);
});

test("a signed domain without mail needs no pinned key", async () => {
  expect(await whenHinted(HOME, ALL, [])).toEqual([]);
});

test("the check asks for the pins of ten of a hundred hosts, each once", async () => {
  const dns = createZoneDns(HOME);
  const mxHosts = Array.from({ length: 100 }, (_, n) => `mx${n % 50}.example.com`);

  await findDaneHints(dns, { domain: DOMAIN, mxHosts });

  expect(dns.calls.filter((call) => call.startsWith("TLSA"))).toHaveLength(10);
});

describe("a domain's issuer", () => {
  const DOMAIN = "example.com";
  const KEYS_URL = "https://issuer.example/keys";
  const METADATA = {
    issuance_endpoint: "https://issuer.example/issue",
    jwks_uri: KEYS_URL,
    signing_alg_values_supported: ["EdDSA"],
  };
  const KEY = { kty: "OKP", crv: "Ed25519", x: "AA" };

  const at = (TXT: Records["TXT"]) =>
    createZoneDns({ [`_email-verification.${DOMAIN}`]: { TXT } as Records });

  const answer = (document: unknown, more: object = {}): FetchedDocument => ({
    kind: "answer",
    status: 200,
    contentType: "application/json",
    body: JSON.stringify(document),
    isComplete: true,
    ...more,
  });
  const fail = (why: string): FetchedDocument => ({ kind: "failed", why });

  test.each<readonly [what: string, TXT: Records["TXT"], ids: readonly string[]]>([
    ["a host", ["iss=issuer.example"], ["EMAIL_VERIFICATION_PRESENT"]],
    ["an origin", ["iss=https://issuer.example"], ["EMAIL_VERIFICATION_PRESENT"]],
    ["no record", [], ["EMAIL_VERIFICATION_NONE"]],
    ["two records", ["iss=issuer.example", "iss=b.example"], ["EMAIL_VERIFICATION_BAD"]],
    ["another text beside it", ["iss=issuer.example", "hello"], ["EMAIL_VERIFICATION_BAD"]],
    ["no iss=", ["issuer.example"], ["EMAIL_VERIFICATION_BAD"]],
    ["an address", ["iss=192.0.2.1"], ["EMAIL_VERIFICATION_BAD"]],
    ["no answer", "TIMEOUT", []],
  ])("the hints follow from a delegation in DNS: %s", async (_, TXT, ids) => {
    const hints = await findEmailVerificationHints(at(TXT), { domain: DOMAIN });

    expect(hints.map(({ id }) => id)).toEqual(ids);
    expect(hints.every(({ costPoints }) => costPoints === 0)).toBe(true);
  });

  const ofMetadata = (metadata: object) => [answer({ ...METADATA, ...metadata })] as const;
  const ofKeys = (keys: FetchedDocument) => [answer(METADATA), keys] as const;

  test.each<
    readonly [what: string, id: string, documents: readonly [FetchedDocument, FetchedDocument?]]
  >([
    ["are right", "PRESENT", ofKeys(answer({ keys: [KEY] }))],
    ["have keys of several kinds", "PRESENT", ofKeys(answer({ keys: [{ kty: "RSA" }, KEY] }))],
    ["cannot be fetched", "UNCHECKED", [fail("timeout")]],
    ["are at a private address", "UNCHECKED", [fail("private_address")]],
    ["are elsewhere", "UNCHECKED", [answer({}, { status: 302 })]],
    ["are at no host", "BAD", [fail("name_not_found")]],
    ["are missing", "BAD", [answer({}, { status: 404 })]],
    ["are a page", "BAD", [answer("<html>")]],
    ["are another issuer's", "BAD", ofMetadata({ issuer: "https://other.example" })],
    ["have keys elsewhere", "BAD", ofMetadata({ jwks_uri: "https://other.example/keys" })],
    ["have issuance elsewhere", "BAD", ofMetadata({ issuance_endpoint: "https://other.example/" })],
    ["have no algorithm", "BAD", ofMetadata({ signing_alg_values_supported: ["RS256"] })],
    ["have keys that cannot be fetched", "UNCHECKED", ofKeys(fail("closed"))],
    ["have keys that are cut", "UNCHECKED", ofKeys(answer({}, { isComplete: false }))],
    ["have keys that are missing", "BAD", ofKeys(answer({}, { status: 410 }))],
    ["have no keys", "BAD", ofKeys(answer({ keys: [] }))],
    ["have no key of the algorithm", "BAD", ofKeys(answer({ keys: [{ ...KEY, crv: "X25519" }] }))],
  ])("an issuer whose documents %s raises the hint %s", async (_, id, [metadata, keys]) => {
    const fetchDocument = async (url: string) =>
      (url === KEYS_URL ? keys : metadata) ?? fail("nobody asks for it");
    const hints = await findEmailVerificationHints(at(["iss=issuer.example"]), {
      domain: DOMAIN,
      fetchDocument,
    });

    expect(hints.map((hint) => hint.id)).toEqual([`EMAIL_VERIFICATION_${id}`]);
  });
});

describe("BIMI", () => {
  const DOMAIN = "example.com";
  const LOGO = "v=BIMI1; l=https://example.com/l.svg; a=https://example.com/l.pem";
  const SVG =
    '<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps"><title>Example</title><rect/></svg>';

  type Dmarc = Parameters<typeof findBimiHints>[1]["dmarc"];
  const ENFORCED: Dmarc = {
    status: "pass",
    policy: "reject",
    record: "v=DMARC1; p=reject",
    recordDomain: DOMAIN,
    organisation: DOMAIN,
  };
  const withRecord = (record: string, policy: Dmarc["policy"] = "reject"): Dmarc => ({
    ...ENFORCED,
    record,
    policy,
  });

  const published = (TXT: Records["TXT"], more: Zone = {}): Zone => ({
    [`default._bimi.${DOMAIN}`]: { TXT } as Records,
    ...more,
  });

  const whenHinted = (
    zone: Zone,
    input: Partial<Parameters<typeof findBimiHints>[1]> = {},
    dns = createZoneDns(zone),
  ) => findBimiHints(dns, { domain: DOMAIN, dmarc: ENFORCED, ...input });

  const getIds = (issues: readonly { readonly id: string }[]) => issues.map(({ id }) => id);

  test.each(asRows<
    readonly [what: string, TXT: Records["TXT"], dmarc: Dmarc, ids: readonly string[]]
  >`
  a logo and a certificate under DMARC reject | ${[LOGO]} | ${ENFORCED} | [BIMI_CERTIFICATE]
  a logo without a certificate | ${["v=BIMI1; l=https://example.com/l.svg"]} | ${ENFORCED} | [BIMI_NO_CERTIFICATE]
  a logo with an empty certificate | ${["v=BIMI1; l=https://example.com/l.svg; a=;"]} | ${ENFORCED} | [BIMI_NO_CERTIFICATE]
  no logo | [] | ${ENFORCED} | [BIMI_MISSING]
  two records | ${[LOGO, LOGO]} | ${ENFORCED} | [BIMI_BAD]
  another text beside it | ${["hello", LOGO]} | ${ENFORCED} | [BIMI_CERTIFICATE]
  no l= | ${["v=BIMI1; a="]} | ${ENFORCED} | [BIMI_BAD]
  a logo that stands twice | ${[`${LOGO}; l=https://example.com/l.svg`]} | ${ENFORCED} | [BIMI_BAD]
  a part without a value | ${[`${LOGO}; brand`]} | ${ENFORCED} | [BIMI_BAD]
  two logos | ${["v=BIMI1; l=https://a.test/l.svg,https://b.test/l.svg"]} | ${ENFORCED} | [BIMI_BAD]
  an address that is none | ${["v=BIMI1; l=https://[l.svg"]} | ${ENFORCED} | [BIMI_BAD]
  a preference | ${[`${LOGO}; avp=brand; lps=a;`]} | ${ENFORCED} | [BIMI_CERTIFICATE]
  a tag that does not exist, twice | ${[`${LOGO}; x=1; x=1`]} | ${ENFORCED} | [BIMI_BAD]
  a logo without https | ${["v=BIMI1; l=http://example.com/l.svg"]} | ${ENFORCED} | [BIMI_BAD]
  a certificate without https | ${["v=BIMI1; l=; a=ftp://example.com"]} | ${ENFORCED} | [BIMI_BAD]
  a certificate without a logo | ${["v=BIMI1; l=; a=https://example.com/l.pem"]} | ${ENFORCED} | [BIMI_BAD]
  a declaration of no logo | ${["v=BIMI1; l=; a=;"]} | ${withRecord("v=DMARC1; p=none", "none")} | []
  no answer | TIMEOUT | ${ENFORCED} | []
  a logo, and DMARC did not answer | ${[LOGO]} | ${{ ...ENFORCED, status: "error", policy: null, record: null, recordDomain: null }} | [BIMI_CERTIFICATE]
`)("the BIMI hints follow from %s", async (_, TXT, dmarc, ids) => {
    expect(getIds(await whenHinted(published(TXT), { dmarc }))).toEqual(ids);
  });

  test.each(asRows<readonly [what: string, dmarc: Dmarc, tag: string]>`
  none | ${withRecord("v=DMARC1; p=none", "none")} | p=quarantine or p=reject
  missing | ${{ ...ENFORCED, policy: null, record: null, recordDomain: null }} | there is no policy
  for a half of the mail | ${withRecord("v=DMARC1; p=quarantine; pct=50", "quarantine")} | pct=50
  reject for a half of the mail | ${withRecord("v=DMARC1; p=reject; pct=50")} | pct=50
  none for subdomains | ${withRecord("v=DMARC1; p=reject; sp=none")} | sp=none
  a tested quarantine | ${withRecord("v=DMARC1; p=quarantine; t=y", "none")} | t=y
`)("the BIMI hint reports the tag of a too weak DMARC policy: %s", async (_, dmarc, tag) => {
    const [hint] = await whenHinted(published([LOGO]), { dmarc });

    expect(hint?.id).toBe("BIMI_BAD");
    expect(hint?.message).toContain(tag);
  });

  test.each<readonly [what: string, record: string]>([
    ["quarantine for all mail", "v=DMARC1; p=quarantine; pct=100"],
    ["reject", "v=DMARC1; p=reject; sp=quarantine"],
    ["reject with a percentage that is none", "v=DMARC1; p=reject; pct=all"],
  ])("the DMARC policy %s suffices for BIMI", async (_, record) => {
    const hints = await whenHinted(published([LOGO]), { dmarc: withRecord(record, "quarantine") });

    expect(getIds(hints)).toEqual(["BIMI_CERTIFICATE"]);
  });

  const BELOW = "news.example.com";

  test("a subdomain without a record shows the logo of its organisational domain", async () => {
    const dns = createZoneDns(published(["v=BIMI1; l=https://example.com/l.svg"]));
    const hints = await whenHinted({}, { domain: BELOW }, dns);

    expect(hints).toMatchObject([{ id: "BIMI_NO_CERTIFICATE", detail: { domain: DOMAIN } }]);
    expect(dns.calls.slice(0, 2)).toEqual([
      `TXT default._bimi.${BELOW}`,
      `TXT default._bimi.${DOMAIN}`,
    ]);
  });

  test.each<readonly [what: string, own: Records["TXT"], ids: readonly string[]]>([
    ["has a record of its own", ["v=BIMI1; l="], []],
    ["has two", [LOGO, LOGO], ["BIMI_BAD"]],
    ["does not answer", "SERVFAIL", []],
    ["has another text", ["hello"], ["BIMI_CERTIFICATE"]],
  ])("a subdomain that %s does not use its organisational domain's record", async (_, TXT, ids) => {
    const zone = { ...published([LOGO]), [`default._bimi.${BELOW}`]: { TXT } as Records };

    expect(getIds(await whenHinted(zone, { domain: BELOW }))).toEqual(ids);
  });

  test("the hint reports a missing record when neither domain publishes one", async () => {
    expect(getIds(await whenHinted({}, { domain: BELOW }))).toEqual(["BIMI_MISSING"]);
  });

  test.each([
    ["v=DMARC1; p=none", "at example.com"],
    ["v=DMARC1; p=reject; sp=none", "sp=none at example.com"],
  ])(
    "the policy %s of the organisational domain is too weak for a subdomain with its own reject",
    async (TXT, reported) => {
      const zone = published([LOGO], { [`_dmarc.${DOMAIN}`]: { TXT: [TXT] } });
      const dmarc = { ...ENFORCED, recordDomain: BELOW };
      const [hint] = await whenHinted(zone, { domain: BELOW, dmarc });

      expect(hint?.id).toBe("BIMI_BAD");
      expect(hint?.message).toContain(reported);
    },
  );

  const answer = (body: string, status = 200, isComplete = true): FetchedDocument => ({
    kind: "answer",
    status,
    contentType: "image/svg+xml",
    body,
    isComplete,
  });
  const tooLarge = `${SVG}${" ".repeat(33_000)}`;

  test.each<readonly [what: string, fetched: FetchedDocument, ids: readonly string[]]>([
    ["that matches the profile", answer(SVG), []],
    ["of more than 32 KB", answer(tooLarge), ["BIMI_LOGO_BAD"]],
    ["that does not end", answer(tooLarge, 200, false), ["BIMI_LOGO_BAD"]],
    ["that is cut off", answer(SVG, 200, false), ["BIMI_LOGO_UNCHECKED"]],
    ["that is a page", answer("<!DOCTYPE html><html><br></html>"), ["BIMI_LOGO_BAD"]],
    ["that is gone", answer("", 404), ["BIMI_LOGO_BAD"]],
    ["behind a redirect", answer("", 301), ["BIMI_LOGO_UNCHECKED"]],
    ["that we may not fetch", answer("", 403), ["BIMI_LOGO_UNCHECKED"]],
    ["whose server fails", answer("", 503), ["BIMI_LOGO_UNCHECKED"]],
    ["that is compressed", answer("\u001f\ufffd\b"), ["BIMI_LOGO_UNCHECKED"]],
    ["whose host does not exist", { kind: "failed", why: "name_not_found" }, ["BIMI_LOGO_BAD"]],
    ["that times out", { kind: "failed", why: "connect_timeout" }, ["BIMI_LOGO_UNCHECKED"]],
    ["at a private address", { kind: "failed", why: "private_address" }, ["BIMI_LOGO_UNCHECKED"]],
  ])("the BIMI hints follow from a logo %s", async (_, fetched, ids) => {
    const urls: string[] = [];
    const fetchDocument = async (url: string) => {
      urls.push(url);
      return fetched;
    };
    const hints = await whenHinted(published([LOGO]), { fetchDocument });

    expect(getIds(hints)).toEqual([...ids, "BIMI_CERTIFICATE"]);
    expect(urls).toEqual(["https://example.com/l.svg"]);
  });

  test("the check fetches no logo when the record is not used", async () => {
    const fetchDocument = () => Promise.reject(new Error("no logo was named"));

    expect(getIds(await whenHinted(published([LOGO, LOGO]), { fetchDocument }))).toEqual([
      "BIMI_BAD",
    ]);
    expect(await whenHinted(published(["v=BIMI1; l="]), { fetchDocument })).toEqual([]);
  });

  const ROOT = 'xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps"';
  const logo = (inside: string, root = ROOT) =>
    `<svg ${root}><title>Example</title>${inside}</svg>`;

  test.each(asRows`
  the least | ${logo("")}
  a declaration, a comment and a document type | ${`<?xml version="1.0"?><!-- a > b --><!DOCTYPE svg>\n${logo("")}\n`}
  a byte order mark | ${`\ufeff${logo("")}`}
  single quotes and line ends | ${logo("").replaceAll('"', "'").replaceAll(" ", "\n")}
  a title as CDATA, in parts | ${logo("").replace("Example", "<!-- a --><![CDATA[Ex]]>ample")}
  shapes, groups and gradients
    | ${logo('<defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs><g fill="url(#g)"><path d="M0 0"/></g>')}
  a reference within | ${logo('<path id="a"/><use xlink:href="#a"/><use href="#a"/>')}
  an editor's metadata | ${logo('<metadata><rdf:RDF rdf:about="x"/></metadata><desc>A mark</desc>')}
  attributes with the value they may have | ${logo("", `${ROOT} zoomAndPan="disable" externalResourcesRequired="false"`)}
`)("the profile accepts a logo with %s", (_, text) => {
    expect(findLogoFaults(text)).toEqual([]);
  });

  test.each(asRows<readonly [what: string, text: string, fault: string]>`
  no element | hello | it is no SVG document
  no content | ${""} | it is no SVG document
  another root | <html></html> | it is no SVG document
  an end that is missing | ${logo("<g>")} | it is not well-formed XML
  an end of another element | ${logo("<g></path>")} | it is not well-formed XML
  a second root | ${`${logo("")}<svg/>`} | it is not well-formed XML
  a tag that breaks off | ${`${logo("").slice(0, -1)}`} | it is not well-formed XML
  an attribute without quotes | ${logo("<path d=M0/>")} | it is not well-formed XML
  another profile | ${logo("", ROOT.replace("tiny-ps", "tiny"))} | baseProfile
  no profile | ${logo("", ROOT.replace(/ baseProfile.*/, ""))} | baseProfile
  another version | ${logo("", ROOT.replace("1.2", "1.1"))} | version
  no namespace | ${logo("", ROOT.replace(/xmlns="[^"]*"/, ""))} | xmlns
  a position of its root | ${logo("", `${ROOT} x="0px" y="0px"`)} | x=
  no title | ${`<svg ${ROOT}><path/></svg>`} | no title
  an empty title | ${`<svg ${ROOT}><title> </title></svg>`} | no title
  a title that is not the root's | ${`<svg ${ROOT}><g><title>a</title></g></svg>`} | no title
  two titles | ${logo("<title>b</title>")} | more than one title
  a script | ${logo("<script>alert(1)</script>")} | script
  a script that is empty | ${logo("<script/>")} | script
  a picture of another kind | ${logo('<image href="data:image/png;base64,AA"/>')} | image
  a movement | ${logo("<path><animate/></path>")} | animate
  another language | ${logo("<foreignObject/>")} | foreignObject
  a link | ${logo('<a href="#x"/>')} | a elements
  a style sheet | ${logo("<style>.a{}</style>")} | style elements
  a style of its own | ${logo('<path style="fill:red"/>')} | style=
  a handler | ${logo('<path onclick="x()"/>')} | onclick=
  a reference to elsewhere | ${logo('<use xlink:href="https://example.com/a.svg#b"/>')} | other documents
  a colour from elsewhere | ${logo('<path fill="url(https://example.com/a.svg#b)"/>')} | other documents
  an entity | ${`<!DOCTYPE svg [<!ENTITY a "b">]>${logo("")}`} | entities
  an empty description | ${logo("<desc> </desc>")} | desc is empty
  a style sheet beside it | ${`<?xml-stylesheet href="a.css"?>${logo("")}`} | other documents
  an editor's elements | ${logo("<sodipodi:namedview/>")} | sodipodi:namedview
  an editor's attributes | ${logo("", `${ROOT} inkscape:version="1"`)} | inkscape:version=
  a script among its metadata | ${logo("<metadata><script/></metadata>")} | script
  a filter | ${logo('<filter id="f"/>')} | filter
  a condition | ${logo("<switch><rect/></switch>")} | switch
  text behind its end | ${`${logo("")} hello`} | it is not well-formed XML
  a zoom | ${logo("", `${ROOT} zoomAndPan="magnify"`)} | zoomAndPan=
`)("the profile refuses a logo with %s", (_, text, fault) => {
    expect(findLogoFaults(text).join("; ")).toContain(fault);
  });

  test.each([
    ["elements that do not end", "<svg>".repeat(13_000)],
    ["blanks within a tag", `<svg${" ".repeat(65_000)}`],
    ["attributes without values", `<svg ${"a ".repeat(32_000)}>`],
    ["ends of comments that do not come", "<!--".repeat(16_000)],
    ["brackets", "<".repeat(65_000)],
    ["half a document type", `<!DOCTYPE svg [${"]".repeat(65_000)}`],
    ["addresses", logo(`<path d="${"url( ".repeat(13_000)}"/>`)],
  ])("the parser reads 64 KB of %s to their end", (_, text) => {
    expect(findLogoFaults(text)).not.toEqual([]);
  });
});
