import { analyseDmarc } from "@mailproof/mail/dmarc/analyse";
import { findBimiHints } from "@mailproof/mail/hints/bimi";
import { coversHost, parsePolicy } from "@mailproof/mail/hints/mta-sts";
import { findLogoFaults } from "@mailproof/mail/hints/svg-logo";
import fc from "fast-check";
import { bimi } from "mailauth/lib/bimi/index.js";
import { validateSvg } from "mailauth/lib/bimi/validate-svg.js";
import { parsePolicy as parseTheirs, validateMx } from "mailauth/lib/mta-sts.js";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../app/zone.ts";
import { createResolver } from "./resolver.ts";

// Goal: MTA-STS policies, BIMI records and logos are read as mailauth reads them, written by others.
// Method: any lines, tags and elements; each known difference is left out, with its reason there.

const RUNS = { seed: 20261123, numRuns: 3_000 };

const attempt = <T>(run: () => T): T | undefined => {
  try {
    return run();
  } catch {
    return undefined;
  }
};

// Ours takes blanks round the name of a field, as the senders' programs do; the ABNF of RFC 8461 has none there.
const line = fc.constantFrom(
  "version: STSv1",
  "version:STSv1",
  "version: STSv2",
  "mode: enforce",
  "mode: testing",
  "mode: none",
  "mode: Enforce",
  "max_age: 86400",
  "max_age: 31557600",
  "max_age: 31557601",
  "max_age: -1",
  "max_age: 1e5",
  "max_age:",
  "mx: mx.example.com",
  "mx: *.example.com",
  "mx: MX.example.com",
  "mx: mx.*.com",
  "mx: mx.example.com.",
  "mx: -a.example.com",
  "mx: a_b.example.com",
  "mx:",
  "Mode: none",
  "x-more: 1",
  "no colon",
  "",
);
const end = fc.constantFrom("\n", "\r\n");
const policyText = fc
  .tuple(fc.boolean(), fc.array(line, { maxLength: 6 }), end)
  .map(([isWhole, lines, between]) =>
    [...(isWhole ? ["version: STSv1", "mode: enforce", "max_age: 86400"] : []), ...lines].join(
      between,
    ),
  );

test("both parsers accept the same texts as MTA-STS policies, with the same mode and hosts", () => {
  const met = new Set<boolean>();
  fc.assert(
    fc.property(policyText, (text) => {
      const ours = parsePolicy(text);
      const theirs = attempt(() => parseTheirs(text, { strict: true }));
      met.add(theirs !== undefined);

      const found = ours.kind === "policy" && { mode: ours.mode, mx: [...new Set(ours.mx)] };
      const expected = theirs ? { mode: theirs.mode, mx: theirs.mx ?? [] } : false;
      expect({ text, found }).toEqual({ text, found: expected });
    }),
    RUNS,
  );
  expect(met).toEqual(new Set([true, false]));
});

const label = fc.constantFrom("a", "mx", "example", "com", "mx-1");
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
const pattern = fc.tuple(fc.boolean(), name).map(([isWild, host]) => (isWild ? `*.${host}` : host));

test("a pattern covers the same hosts in both implementations", () => {
  const met = new Set<boolean>();
  fc.assert(
    fc.property(pattern, name, (mx, host) => {
      const isCovered = coversHost(mx, host);
      met.add(isCovered);

      expect({ mx, host, isCovered }).toEqual({
        mx,
        host,
        isCovered: validateMx(host, { mode: "enforce", mx: [mx] }).valid,
      });
    }),
    { ...RUNS, numRuns: 10_000 },
  );
  expect(met).toEqual(new Set([true, false]));
});

const [DOMAIN, ORGANISATION] = ["news.example.com", "example.com"];
const choice = (tags: readonly string[]) => fc.constantFrom("", ...tags);
// Left out: pct under reject, which Gmail refuses as ours does and the draft allows; and t=y under reject, which
// mailauth refuses, while receivers of RFC 9989 quarantine then and those of RFC 7489 reject.
const dmarcText = fc
  .tuple(
    fc.constantFrom(
      "p=reject",
      "p=quarantine",
      "p=quarantine; pct=50",
      "p=quarantine; pct=100",
      "p=quarantine; t=y",
      "p=none",
      "p=wrong; rua=mailto:d@example.com",
    ),
    choice(["; sp=none", "; sp=reject"]),
  )
  .map(([p, sp]) => `v=DMARC1; ${p}${sp}`);
const LOGO = "https://example.com/l.svg";
// Left out: a tag that stands twice, of which the last counts for mailauth; it makes a tag list invalid (RFC 6376 §3.2).
const bimiText = fc
  .tuple(
    fc.constantFrom("v=BIMI1", "v = BIMI1", "v=BIMI2", "hello"),
    choice([`; l=${LOGO}`, "; l=", "; l=http://example.com/l.svg", `; L=${LOGO}`]),
    choice(["; a=", "; a=https://example.com/l.pem", "; a=ftp://example.com/l.pem"]),
    choice(["; x=1", ";"]),
  )
  .map((parts) => parts.join(""));
const texts = (text: fc.Arbitrary<string>) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.tuple(text) },
    { weight: 1, arbitrary: fc.tuple(text, text) },
    { weight: 4, arbitrary: fc.constant([]) },
  );
const zones = fc
  .record({
    [`_dmarc.${DOMAIN}`]: texts(dmarcText),
    [`_dmarc.${ORGANISATION}`]: fc.tuple(dmarcText),
    [`default._bimi.${DOMAIN}`]: texts(bimiText),
    [`default._bimi.${ORGANISATION}`]: texts(bimiText),
  })
  .map(
    (names): Zone => ({
      ...Object.fromEntries(Object.entries(names).map(([at, TXT]) => [at, { TXT }])),
      [DOMAIN]: { MX: ["10 mx.example.com"] },
    }),
  );

/** "pass", or why no logo is shown. */
const findOurs = async (zone: Zone): Promise<string> => {
  const dns = createZoneDns(zone);
  const dmarc = await analyseDmarc(dns, { domain: DOMAIN });
  const ids = (await findBimiHints(dns, { domain: DOMAIN, dmarc })).map(({ id }) => id);
  if (ids.includes("BIMI_MISSING")) return "none";
  if (ids.includes("BIMI_BAD")) return "refused";
  return ids.length === 0 ? "declined" : "pass";
};

const findTheirs = async (zone: Zone): Promise<string> => {
  const dns = createZoneDns(zone);
  const { policy, record, recordDomain, organisation } = await analyseDmarc(dns, {
    domain: DOMAIN,
  });
  const { status } = await bimi({
    dmarc: {
      status: { result: "pass", header: { from: DOMAIN } },
      domain: organisation,
      policy,
      rr: record ?? undefined,
      policyDomain: recordDomain ?? undefined,
    },
    headers: { parsed: [] },
    resolver: createResolver(dns),
  });
  return status.result === "fail" || status.result === "skipped" ? "refused" : status.result;
};

test("the logo check accepts and refuses random records as mailauth does", async () => {
  const met = new Set<string>();
  await fc.assert(
    fc.asyncProperty(zones, async (zone) => {
      const [ours, theirs] = await Promise.all([findOurs(zone), findTheirs(zone)]);
      met.add(ours);

      // mailauth looks at DMARC first, ours at the record: which of the two refuses is not compared.
      const areRefused = ours !== "pass" && theirs === "refused";
      expect({ zone, ours }).toEqual({ zone, ours: areRefused ? ours : theirs });
    }),
    RUNS,
  );
  expect(met).toEqual(new Set(["pass", "none", "refused", "declined"]));
});

const ROOT = 'xmlns="http://www.w3.org/2000/svg" version="1.2"';
const logo = fc
  .tuple(
    choice([' baseProfile="tiny-ps"', ' baseProfile="tiny"']),
    choice([' x="0"', ' viewBox="0 0 9 9"']),
    choice(["<title>Example</title>", "<title></title>"]),
    fc.array(
      fc.constantFrom(
        '<path d="M0 0"/>',
        '<g id="a"><rect/></g>',
        "<script>x()</script>",
        "<g><animate/></g>",
        "<set/>",
        '<use xlink:href="#a"/>',
        '<use xlink:href="https://example.com/a.svg"/>',
        "<image/>",
        "text",
        "<!-- <script> -->",
      ),
      { maxLength: 3 },
    ),
  )
  .map(
    ([profile, more, title, parts]) =>
      `<svg ${ROOT}${profile}${more}>${title}${parts.join("")}</svg>`,
  );

test("the profile refuses every logo that mailauth refuses, and every other refused logo breaks the profile", () => {
  const met = new Set<string>();
  fc.assert(
    fc.property(logo, (text) => {
      const faults = findLogoFaults(text);
      const isTheirs = attempt(() => validateSvg(text)) !== undefined;
      met.add(`${faults.length === 0} ${isTheirs}`);

      // mailauth knows the elements that may run or move, and lets others pass.
      const others = faults.filter((fault) => fault !== "it has image elements");
      // With a fault for mailauth there is one for ours, and without one images are all that ours refuses.
      expect({ text, isRefused: (isTheirs ? others : faults).length > 0 }).toEqual({
        text,
        isRefused: !isTheirs,
      });
    }),
    RUNS,
  );
  expect(met).toEqual(new Set(["true true", "false true", "false false"]));
});
