import { analyseDkim } from "@mailproof/mail/dkim/analyse";
import { parseDkimKey } from "@mailproof/mail/dkim/key";
import {
  type DkimTraces,
  listLikelySelectors,
  listSelectors,
} from "@mailproof/mail/dkim/selectors";
import { expect, test } from "vitest";
import { createZoneDns, type DnsTrouble, type Records, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";
import {
  ED25519,
  ED25519_WRAPPED,
  RSA_512,
  RSA_1024,
  RSA_2048,
  RSA_2048_PKCS1,
} from "../../things/dkim-keys.ts";

const SELECTORS_MAX = 45;

const DOMAIN = "example.com";
const NO_TRACES: DkimTraces = { mxHosts: [], spfIncludes: [], ownSelectors: [] };
const GOOD = `v=DKIM1; p=${RSA_2048}`;

const keys = (bySelector: Readonly<Record<string, string | Records>>): Zone =>
  Object.fromEntries(
    Object.entries(bySelector).map(([selector, at]) => [
      `${selector}._domainkey.${DOMAIN}`,
      typeof at === "string" && !TROUBLES.has(at) ? { TXT: [at] } : (at as DnsTrouble | Records),
    ]),
  );
const TROUBLES = new Set(["SERVFAIL", "REFUSED", "TIMEOUT"]);

const whenAnalysed = (names: Zone, traces: Partial<DkimTraces> = {}) => {
  const dns = createZoneDns(names);
  const input = { domain: DOMAIN, randomLabel: "r4nd0m", ...NO_TRACES, ...traces };
  return analyseDkim(dns, input).then((found) => ({ ...found, calls: dns.calls }));
};

type Row = readonly [
  what: string,
  zone: Zone,
  issues: readonly string[],
  score: number | null,
  status: string,
];

test.each(asRows<Row>`
  a strong key | ${keys({ default: GOOD })} | [] | 100 | pass
  no _domainkey | ${{ [DOMAIN]: { A: ["8.8.8.8"] } }} | [DKIM_NXDOMAIN] | 0 | missing
  keys under other names | ${keys({ hidden: GOOD })} | [DKIM_NOT_FOUND] | 50 | unknown
  a revoked key alone | ${keys({ mail: "v=DKIM1; p=" })} | [DKIM_REVOKED] | 0 | fail
  a revoked key beside a live one | ${keys({ mail: "v=DKIM1; p=", s1: GOOD })} | [DKIM_REVOKED] | 100 | pass
  512 bits | ${keys({ s1: `v=DKIM1; p=${RSA_512}` })} | [DKIM_SHORT] | 10 | fail
  1024 bits | ${keys({ s1: `v=DKIM1; p=${RSA_1024}` })} | [DKIM_1024] | 85 | warn
  two keys of 1024 bits with one fault | ${keys({ s1: `v=DKIM1; p=${RSA_1024}`, s2: `v=DKIM1; p=${RSA_1024}` })} | [DKIM_1024] | 85 | warn
  test mode | ${keys({ s1: `v=DKIM1; t=y; p=${RSA_2048}` })} | [DKIM_TESTING] | 85 | warn
  sha1 only | ${keys({ s1: `v=DKIM1; h=sha1; p=${RSA_2048}` })} | [DKIM_SHA1_ONLY] | 40 | fail
  a broken key | ${keys({ s1: "v=DKIM1; p=!!!" })} | [DKIM_BAD_KEY] | 20 | fail
  two records at one name | ${keys({ s1: { TXT: [GOOD, `v=DKIM1; p=${RSA_1024}`] } })} | [DKIM_MULTI_TXT] | 80 | warn
  only Ed25519 | ${keys({ s1: `k=ed25519; p=${ED25519}` })} | [DKIM_ED25519_ONLY] | 75 | warn
  Ed25519 beside RSA | ${keys({ s1: `k=ed25519; p=${ED25519}`, s2: GOOD })} | [] | 100 | pass
  another service | ${keys({ s1: `s=other; p=${RSA_2048}` })} | [DKIM_SERVICE] | 40 | fail
  an alias that ends in a name without a key | ${{ ...keys({ s1: { CNAME: ["s1.example.net"] }, s2: GOOD }), "s1.example.net": { A: ["8.8.8.8"] } }}
    | [DKIM_CNAME_DANGLING] | 40 | fail
  an alias that ends in a key | ${{ ...keys({ s1: { CNAME: ["s1.example.net"] } }), "s1.example.net": { TXT: [GOOD] } }} | [] | 100 | pass
  a text that is no key | ${keys({ mail: "v=spf1 -all" })} | [DKIM_NOT_FOUND] | 50 | unknown
  no key and one silent name | ${keys({ hidden: GOOD, s1: "TIMEOUT" })} | [DKIM_INCONCLUSIVE] | null | error
  a key and a silent name | ${keys({ s1: GOOD, s2: "SERVFAIL" })} | [DKIM_INCONCLUSIVE] | 100 | pass
  a revoked key and a silent name | ${keys({ s1: "p=", s2: "TIMEOUT" })} | [DKIM_REVOKED DKIM_INCONCLUSIVE] | null | error
  an Ed25519 key and a silent name | ${keys({ s1: `k=ed25519; p=${ED25519}`, s2: "TIMEOUT" })} | [DKIM_INCONCLUSIVE] | 100 | pass
  keys below a silent name | ${{ [`_domainkey.${DOMAIN}`]: "TIMEOUT", ...keys({ s1: GOOD }) }} | [] | 100 | pass
`)("the DKIM analysis returns issues and score for %s", async (_, names, issues, score, status) => {
  const found = await whenAnalysed(names);

  expect(found.issues.map(({ id }) => id)).toEqual(issues);
  expect(found).toMatchObject({ score, status });
});

const COMMONEST = ["google", "selector1", "selector2", "default", "s1", "k1"];
const askedFor = (calls: readonly string[]) =>
  calls.flatMap((call) => /^TXT (\w+)\._domainkey\./.exec(call)?.[1] ?? []);

test("the analysis asks for the commonest selectors before it believes a denied _domainkey", async () => {
  const { calls, ...found } = await whenAnalysed({ [DOMAIN]: { A: ["8.8.8.8"] } });

  expect(askedFor(calls)).toEqual(["r4nd0m", ...COMMONEST]);
  expect(found).toMatchObject({ status: "missing", score: 0 });
  expect(found.issues[0]?.detail).toEqual({ domain: DOMAIN, n: 6 });
});

const DENIED: Zone = { [`_domainkey.${DOMAIN}`]: "DENIED" };

test.each<readonly [what: string, traces: Partial<DkimTraces>, selector: string]>([
  ["one of the commonest selectors", {}, "default"],
  ["a selector that the MX suggests", { mxHosts: ["in1.messagingengine.com"] }, "fm2"],
  ["a selector that SPF suggests", { spfIncludes: ["spf.mtasv.net"] }, "pm"],
  ["a selector of the operator's list", { ownSelectors: ["corp2024"] }, "corp2024"],
])(
  "the analysis distrusts a denial of _domainkey when it finds a key under %s",
  async (_, traces, selector) => {
    const found = await whenAnalysed({ ...DENIED, ...keys({ [selector]: GOOD }) }, traces);

    expect(found).toMatchObject({ status: "pass", selectorsFound: [selector], issues: [] });
  },
);

test("the analysis asks for all selectors when it distrusts a denial", async () => {
  const names = { ...DENIED, ...keys({ default: GOOD, zoho: GOOD }) };

  expect(await whenAnalysed(names)).toMatchObject({ selectorsFound: ["default", "zoho"] });
});

test("a name without a key below a denied _domainkey proves the denial wrong", async () => {
  const names = { ...DENIED, ...keys({ s1: {}, hidden: GOOD }) };

  expect(await whenAnalysed(names)).toMatchObject({ status: "unknown", score: 50 });
});

test("a denied _domainkey proves nothing when one of the commonest selectors is silent", async () => {
  const names = { ...DENIED, ...keys({ k1: "TIMEOUT" }) };

  expect(await whenAnalysed(names)).toMatchObject({ status: "error", score: null });
});

test("the analysis asks for the operator's selectors at a domain without other traces", async () => {
  const names = keys({ "a.b": GOOD });

  expect(await whenAnalysed(names, { ownSelectors: ["a.b"] })).toMatchObject({
    selectorsFound: ["a.b"],
  });
});

test("the analysis asks for no selector when no name answers", async () => {
  const { calls, ...found } = await whenAnalysed({
    [`_domainkey.${DOMAIN}`]: "TIMEOUT",
    ...keys({ r4nd0m: "SERVFAIL", s1: GOOD }),
  });

  expect(found).toMatchObject({ status: "error", score: null });
  expect(calls).toHaveLength(2);
});

test("a DKIM key under a random selector proves nothing, since every selector has one", async () => {
  const selectors = ["r4nd0m", ...listSelectors(NO_TRACES)];
  const everywhere = keys(Object.fromEntries(selectors.map((selector) => [selector, GOOD])));

  expect(await whenAnalysed(everywhere)).toMatchObject({ status: "unknown", selectorsFound: [] });
});

test("the key may be a wildcard's when the random name is silent and no name is missing", async () => {
  const names = listSelectors(NO_TRACES).map((selector) => [selector, GOOD] as const);
  const everywhere = { ...keys(Object.fromEntries(names)), ...keys({ r4nd0m: "TIMEOUT" }) };

  expect(await whenAnalysed(everywhere)).toMatchObject({ status: "error", score: null });
  expect(await whenAnalysed({ ...everywhere, ...keys({ s1: {} }) })).toMatchObject({ score: 100 });
});

test("a selector's own key counts beside a wildcard", async () => {
  const names = keys({ r4nd0m: "v=DKIM1; p=", s1: "v=DKIM1; p=", s2: GOOD });

  expect(await whenAnalysed(names)).toMatchObject({ status: "pass", selectorsFound: ["s2"] });
});

test("a wildcard record without DKIM keys raises no issue", async () => {
  const names = keys({ r4nd0m: "v=spf1 -all", s1: "v=spf1 -all", s2: GOOD });

  expect(await whenAnalysed(names)).toMatchObject({ status: "pass", selectorsFound: ["s2"] });
});

test("the analysis distrusts a server that denies _domainkey and answers for names below it", async () => {
  const names = { ...keys({ r4nd0m: "v=spf1 -all", s1: GOOD }) };
  const honest = createZoneDns(names);
  const { status } = await analyseDkim(
    (type, name) =>
      name === `_domainkey.${DOMAIN}` ? Promise.resolve({ kind: "nxdomain" }) : honest(type, name),
    { domain: DOMAIN, randomLabel: "r4nd0m", ...NO_TRACES },
  );

  expect(status).toBe("pass");
});

test.each(asRows`
  Google by its MX | ${{ mxHosts: ["aspmx.l.google.com"] }} | ${["google", "20230601"]}
  Microsoft by its MX | ${{ mxHosts: ["x.mail.protection.outlook.com"] }} | [selector1 selector2]
  SendGrid by SPF | ${{ spfIncludes: ["sendgrid.net"] }} | [s1 s2]
  Mailchimp by SPF | ${{ spfIncludes: ["servers.mcsv.net"] }} | [k1 k2]
  Zoho by its MX, in capitals | ${{ mxHosts: ["MX.ZOHO.EU."] }} | [zoho zmail]
  no selector without traces | ${{}} | []
  no selector by a name that only ends alike | ${{ mxHosts: ["mx.notgoogle.com"] }} | []
`)("the analysis asks first for %s", (_, traces, first) => {
  expect(listLikelySelectors({ ...NO_TRACES, ...traces }).slice(0, 2)).toEqual(first);
  expect(listSelectors({ ...NO_TRACES, ...traces }).slice(0, first.length)).toEqual(first);
});

test("the analysis sends few DNS queries, however many providers it sees", async () => {
  const all = {
    ...NO_TRACES,
    mxHosts: ["google.com", "outlook.com", "zoho.com", "messagingengine.com", "protonmail.ch"],
    spfIncludes: ["sendgrid.net", "mcsv.net", "mandrillapp.com", "mailgun.org", "everlytic.net"],
  };
  const { calls } = await whenAnalysed(keys({ hidden: GOOD }), all);

  expect(listSelectors(all)).toHaveLength(SELECTORS_MAX);
  expect(calls.length).toBeLessThanOrEqual(SELECTORS_MAX + 2 + 12);
});

test("the analysis reports an alias to a missing name at a provider that the domain uses", async () => {
  const names = keys({ selector1: { CNAME: ["gone.example.net"] }, hidden: GOOD });
  const found = await whenAnalysed(names, { mxHosts: ["x.mail.protection.outlook.com"] });

  expect(found.issues.map(({ id }) => id)).toEqual(["DKIM_NOT_FOUND", "DKIM_CNAME_DANGLING"]);
});

test("the analysis reports an alias to a missing name at a common selector, too, when it finds no key", async () => {
  const dangling = { CNAME: ["gone.example.net"] };
  const without = await whenAnalysed(keys({ s1: dangling, hidden: GOOD }));
  const withKey = await whenAnalysed(keys({ s1: dangling, google: GOOD }));

  expect(without.issues.map(({ id }) => id)).toEqual(["DKIM_NOT_FOUND", "DKIM_CNAME_DANGLING"]);
  expect(withKey.issues).toEqual([]);
});

test("an issue lists the selectors that it concerns", async () => {
  const { issues } = await whenAnalysed(keys({ s1: `p=${RSA_1024}`, s2: `p=${RSA_1024}` }));

  expect(issues[0]?.detail).toEqual({ selector: "s1, s2", bits: 1024 });
});

test.each(asRows`
  a key of 2048 bits | ${`v=DKIM1; k=rsa; p=${RSA_2048}`} | ${{ kind: "rsa", bits: 2048 }}
  a key of 1024 bits | ${`v=DKIM1; p=${RSA_1024}`} | ${{ kind: "rsa", bits: 1024 }}
  a key of 512 bits | ${`v=DKIM1; p=${RSA_512}`} | ${{ kind: "rsa", bits: 512 }}
  the form that RFC 6376 describes | ${`v=DKIM1; p=${RSA_2048_PKCS1}`} | ${{ kind: "rsa", bits: 2048 }}
  a key without a version | ${`k=rsa; p=${RSA_2048}`} | ${{ kind: "rsa" }}
  a key whose type is in capitals | ${`v=DKIM1; k=RSA; p=${RSA_2048}`} | ${{ kind: "rsa" }}
  white space within the key and round the tags | ${` v = DKIM1 ;\tk=rsa;\r\n p=${RSA_2048.replaceAll(/(.{70})/g, "$1 ")};`}
    | ${{ kind: "rsa", bits: 2048 }}
  a key without its padding | ${`v=DKIM1; p=${RSA_2048.replace(/=+$/, "")}`} | ${{ kind: "rsa" }}
  an Ed25519 key | ${`v=DKIM1; k=ed25519; p=${ED25519}`} | ${{ kind: "ed25519", bits: null }}
  a revoked key | v=DKIM1; p= | ${{ kind: "revoked" }}
  a revoked key without a semicolon to its end | ${"v=DKIM1;p= "} | ${{ kind: "revoked" }}
  an Ed25519 key in ASN.1 | ${`k=ed25519; p=${ED25519_WRAPPED}`} | ${{ kind: "broken" }}
  an Ed25519 key that is called RSA | ${`k=rsa; p=${ED25519_WRAPPED}`} | ${{ kind: "broken" }}
  a key of an unknown kind | ${`v=DKIM1; k=dsa; p=${RSA_2048}`} | ${{ kind: "broken" }}
  a key that is no base64 | v=DKIM1; p=YOUR-KEY-HERE! | ${{ kind: "broken" }}
  base64 that is no key | v=DKIM1; p=aGVsbG8gd29ybGQ= | ${{ kind: "broken" }}
  a key that was cut off | ${`v=DKIM1; p=${RSA_2048.slice(0, 255)}`} | ${{ kind: "broken" }}
  no p= | v=DKIM1; k=rsa | ${{ kind: "broken" }}
  another version | ${`v=DKIM2; p=${RSA_2048}`} | ${{ kind: "broken" }}
  a version in small letters | ${`v=dkim1; p=${RSA_2048}`} | ${{ kind: "broken" }}
  a version that is not first | ${`k=rsa; v=DKIM1; p=${RSA_2048}`} | ${{ kind: "broken" }}
  a tag that stands twice | ${`v=DKIM1; p=${RSA_2048}; p=${RSA_1024}`} | ${{ kind: "broken" }}
  a part that is no tag | ${`v=DKIM1; rsa; p=${RSA_2048}`} | ${{ kind: "broken" }}
  a key in test mode | ${`v=DKIM1; t=y; p=${RSA_2048}`} | ${{ isTesting: true }}
  a key in test mode among other flags | ${`v=DKIM1; t=s : y; p=${RSA_2048}`} | ${{ isTesting: true }}
  a key for this domain only | ${`v=DKIM1; t=s; p=${RSA_2048}`} | ${{ isTesting: false }}
  a key for sha1 only | ${`v=DKIM1; h=sha1; p=${RSA_2048}`} | ${{ allowsSha256: false }}
  a key for both hashes | ${`v=DKIM1; h=sha1:sha256; p=${RSA_2048}`} | ${{ allowsSha256: true }}
  a key for mail | ${`v=DKIM1; s=email; p=${RSA_2048}`} | ${{ isForMail: true }}
  a key for everything | ${`v=DKIM1; s=*; p=${RSA_2048}`} | ${{ isForMail: true }}
  a key for another service | ${`v=DKIM1; s=tlsrpt; p=${RSA_2048}`} | ${{ isForMail: false }}
  a key with a note and an unknown tag | ${`v=DKIM1; n=hi; x=y; p=${RSA_2048}`} | ${{ kind: "rsa" }}
`)("the parser reads %s", (_, text, key) => {
  expect(parseDkimKey(text)).toMatchObject(key);
});

test.each(["", "v=spf1 -all", "google-site-verification=abc", "hello; world", "v=DMARC1; p=none"])(
  "the parser finds no key in %j",
  (text) => {
    expect(parseDkimKey(text)).toBeUndefined();
  },
);
