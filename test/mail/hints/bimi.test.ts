import { findBimiHints } from "@mailproof/mail/hints/bimi";
import type { FetchedDocument } from "@mailproof/mail/hints/fetched-document";
import { findLogoFaults } from "@mailproof/mail/hints/svg-logo";
import { expect, test } from "vitest";
import { createZoneDns, type Records, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";

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
  declared to be none | ${["v=BIMI1; l=; a=;"]} | ${withRecord("v=DMARC1; p=none", "none")} | []
  no answer | TIMEOUT | ${ENFORCED} | []
  a logo, and DMARC did not answer | ${[LOGO]} | ${{ ...ENFORCED, status: "error", policy: null, record: null, recordDomain: null }} | [BIMI_CERTIFICATE]
`)("BIMI: %s", async (_, TXT, dmarc, ids) => {
  expect(getIds(await whenHinted(published(TXT), { dmarc }))).toEqual(ids);
});

test.each<readonly [what: string, dmarc: Dmarc, tag: string]>([
  ["none", withRecord("v=DMARC1; p=none", "none"), "p=quarantine or p=reject"],
  [
    "missing",
    { ...ENFORCED, policy: null, record: null, recordDomain: null },
    "there is no policy",
  ],
  ["for a half of the mail", withRecord("v=DMARC1; p=quarantine; pct=50", "quarantine"), "pct=50"],
  ["reject for a half of the mail", withRecord("v=DMARC1; p=reject; pct=50"), "pct=50"],
  ["none for subdomains", withRecord("v=DMARC1; p=reject; sp=none"), "sp=none"],
  ["a tested quarantine", withRecord("v=DMARC1; p=quarantine; t=y", "none"), "t=y"],
])("BIMI asks for more than DMARC that is %s, and the tag is reported", async (_, dmarc, tag) => {
  const [hint] = await whenHinted(published([LOGO]), { dmarc });

  expect(hint?.id).toBe("BIMI_BAD");
  expect(hint?.message).toContain(tag);
});

test.each<readonly [what: string, record: string]>([
  ["quarantine for all mail", "v=DMARC1; p=quarantine; pct=100"],
  ["reject", "v=DMARC1; p=reject; sp=quarantine"],
  ["reject with a percentage that is none", "v=DMARC1; p=reject; pct=all"],
])("DMARC that is %s is enough for BIMI", async (_, record) => {
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
])(
  "a subdomain that %s is not read otherwise for its organisational domain",
  async (_, TXT, ids) => {
    const zone = { ...published([LOGO]), [`default._bimi.${BELOW}`]: { TXT } as Records };

    expect(getIds(await whenHinted(zone, { domain: BELOW }))).toEqual(ids);
  },
);

test("neither has a record", async () => {
  expect(getIds(await whenHinted({}, { domain: BELOW }))).toEqual(["BIMI_MISSING"]);
});

test.each([
  ["v=DMARC1; p=none", "at example.com"],
  ["v=DMARC1; p=reject; sp=none", "sp=none at example.com"],
])(
  "%s of the organisational domain is too weak for a subdomain with reject of its own",
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
  ["by the profile", answer(SVG), []],
  ["of more than 32 KB", answer(tooLarge), ["BIMI_LOGO_BAD"]],
  ["that does not end", answer(tooLarge, 200, false), ["BIMI_LOGO_BAD"]],
  ["that is cut off", answer(SVG, 200, false), ["BIMI_LOGO_UNCHECKED"]],
  ["that is a page", answer("<!DOCTYPE html><html><br></html>"), ["BIMI_LOGO_BAD"]],
  ["that is gone", answer("", 404), ["BIMI_LOGO_BAD"]],
  ["that is elsewhere", answer("", 301), ["BIMI_LOGO_UNCHECKED"]],
  ["that is not for us", answer("", 403), ["BIMI_LOGO_UNCHECKED"]],
  ["whose server fails", answer("", 503), ["BIMI_LOGO_UNCHECKED"]],
  ["that is compressed", answer("\u001f\ufffd\b"), ["BIMI_LOGO_UNCHECKED"]],
  ["whose host does not exist", { kind: "failed", why: "name_not_found" }, ["BIMI_LOGO_BAD"]],
  ["that does not come", { kind: "failed", why: "connect_timeout" }, ["BIMI_LOGO_UNCHECKED"]],
  ["at a private address", { kind: "failed", why: "private_address" }, ["BIMI_LOGO_UNCHECKED"]],
])("a logo %s", async (_, fetched, ids) => {
  const urls: string[] = [];
  const fetchDocument = async (url: string) => {
    urls.push(url);
    return fetched;
  };
  const hints = await whenHinted(published([LOGO]), { fetchDocument });

  expect(getIds(hints)).toEqual([...ids, "BIMI_CERTIFICATE"]);
  expect(urls).toEqual(["https://example.com/l.svg"]);
});

test("no logo is fetched where the record is not used", async () => {
  const fetchDocument = () => Promise.reject(new Error("no logo was named"));

  expect(getIds(await whenHinted(published([LOGO, LOGO]), { fetchDocument }))).toEqual([
    "BIMI_BAD",
  ]);
  expect(await whenHinted(published(["v=BIMI1; l="]), { fetchDocument })).toEqual([]);
});

const ROOT = 'xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps"';
const logo = (inside: string, root = ROOT) => `<svg ${root}><title>Example</title>${inside}</svg>`;

test.each([
  ["the least", logo("")],
  [
    "a declaration, a comment and a document type",
    `<?xml version="1.0"?><!-- a > b --><!DOCTYPE svg>\n${logo("")}\n`,
  ],
  ["a byte order mark", `\ufeff${logo("")}`],
  ["single quotes and line ends", logo("").replaceAll('"', "'").replaceAll(" ", "\n")],
  ["a title as CDATA, in parts", logo("").replace("Example", "<!-- a --><![CDATA[Ex]]>ample")],
  [
    "shapes, groups and gradients",
    logo(
      '<defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs><g fill="url(#g)"><path d="M0 0"/></g>',
    ),
  ],
  ["a reference within", logo('<path id="a"/><use xlink:href="#a"/><use href="#a"/>')],
  ["what an editor adds", logo('<metadata><rdf:RDF rdf:about="x"/></metadata><desc>A mark</desc>')],
  [
    "attributes with the value they may have",
    logo("", `${ROOT} zoomAndPan="disable" externalResourcesRequired="false"`),
  ],
])("a logo with %s is by the profile", (_, text) => {
  expect(findLogoFaults(text)).toEqual([]);
});

test.each<readonly [what: string, text: string, fault: string]>([
  ["no element", "hello", "it is no SVG document"],
  ["nothing", "", "it is no SVG document"],
  ["another root", "<html></html>", "it is no SVG document"],
  ["an end that is missing", logo("<g>"), "it is not well-formed XML"],
  ["an end of another element", logo("<g></path>"), "it is not well-formed XML"],
  ["a second root", `${logo("")}<svg/>`, "it is not well-formed XML"],
  ["a tag that breaks off", `${logo("").slice(0, -1)}`, "it is not well-formed XML"],
  ["an attribute without quotes", logo("<path d=M0/>"), "it is not well-formed XML"],
  ["another profile", logo("", ROOT.replace("tiny-ps", "tiny")), "baseProfile"],
  ["no profile", logo("", ROOT.replace(/ baseProfile.*/, "")), "baseProfile"],
  ["another version", logo("", ROOT.replace("1.2", "1.1")), "version"],
  ["no namespace", logo("", ROOT.replace(/xmlns="[^"]*"/, "")), "xmlns"],
  ["a position of its root", logo("", `${ROOT} x="0px" y="0px"`), "x="],
  ["no title", `<svg ${ROOT}><path/></svg>`, "no title"],
  ["an empty title", `<svg ${ROOT}><title> </title></svg>`, "no title"],
  ["a title that is not the root's", `<svg ${ROOT}><g><title>a</title></g></svg>`, "no title"],
  ["two titles", logo("<title>b</title>"), "more than one title"],
  ["a script", logo("<script>alert(1)</script>"), "script"],
  ["a script that is empty", logo("<script/>"), "script"],
  ["a picture of another kind", logo('<image href="data:image/png;base64,AA"/>'), "image"],
  ["a movement", logo("<path><animate/></path>"), "animate"],
  ["another language", logo("<foreignObject/>"), "foreignObject"],
  ["a link", logo('<a href="#x"/>'), "a elements"],
  ["a style sheet", logo("<style>.a{}</style>"), "style elements"],
  ["a style of its own", logo('<path style="fill:red"/>'), "style="],
  ["a handler", logo('<path onclick="x()"/>'), "onclick="],
  [
    "a reference to elsewhere",
    logo('<use xlink:href="https://example.com/a.svg#b"/>'),
    "other documents",
  ],
  [
    "a colour from elsewhere",
    logo('<path fill="url(https://example.com/a.svg#b)"/>'),
    "other documents",
  ],
  ["an entity", `<!DOCTYPE svg [<!ENTITY a "b">]>${logo("")}`, "entities"],
  ["an empty description", logo("<desc> </desc>"), "desc is empty"],
  ["a style sheet beside it", `<?xml-stylesheet href="a.css"?>${logo("")}`, "other documents"],
  ["an editor's elements", logo("<sodipodi:namedview/>"), "sodipodi:namedview"],
  ["an editor's attributes", logo("", `${ROOT} inkscape:version="1"`), "inkscape:version="],
  ["a script among its metadata", logo("<metadata><script/></metadata>"), "script"],
  ["a filter", logo('<filter id="f"/>'), "filter"],
  ["a condition", logo("<switch><rect/></switch>"), "switch"],
  ["text behind its end", `${logo("")} hello`, "it is not well-formed XML"],
  ["a zoom", logo("", `${ROOT} zoomAndPan="magnify"`), "zoomAndPan="],
])("a logo with %s is not", (_, text, fault) => {
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
])("64 KB of %s are read to the end", (_, text) => {
  expect(findLogoFaults(text)).not.toEqual([]);
});
