import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { discover, getPublishedPolicy } from "@mailproof/mail/dmarc/discover";
import { analyseSpf } from "@mailproof/mail/spf/analyse";
import { beforeAll, expect, test } from "vitest";
import { createZoneDns, type Records, type Zone } from "../app/zone.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { findToolAbsence, getToolFolder } from "./tools.ts";

// Odd and broken zones of example.com for a comparison with another checker.

const DMARC = "v=DMARC1; p=reject; rua=mailto:d@example.com";
const SPF = "v=spf1 mx -all";

const createZone = (
  spf: readonly string[],
  dmarc: readonly string[],
  others: Readonly<Record<string, Records>> = {},
): Zone => ({
  "example.com": { MX: ["10 mx.example.com"], TXT: spf },
  "mx.example.com": { A: ["8.8.8.8"] },
  "a.test": { TXT: ["v=spf1 ip4:9.9.9.9 -all"], A: ["9.9.9.9"] },
  "two.test": { TXT: ["v=spf1 -all", "v=spf1 mx -all"] },
  "faulty.test": { TXT: ["v=spf1 ip4:9.9.9.999 -all"] },
  "none.test": { TXT: ["hello"] },
  "back.test": { TXT: ["v=spf1 include:example.com -all"] },
  "reports.test": { MX: ["10 mx.example.com"] },
  ...(dmarc.length > 0 && { "_dmarc.example.com": { TXT: dmarc } }),
  ...others,
});

const many = (n: number) => Array.from({ length: n }, (_, at) => `include:s${at}.test`).join(" ");
const SENDERS = Object.fromEntries(
  Array.from({ length: 12 }, (_, n) => [`s${n}.test`, { TXT: [`v=spf1 ip4:9.8.7.${n} -all`] }]),
);

const SPF_ZONES: Readonly<Record<string, readonly string[]>> = {
  "no record": [],
  "a sound record": [SPF],
  "capital letters": ["V=SPF1 MX -ALL"],
  "two records": [SPF, "v=spf1 -all"],
  "another text beside it": [SPF, "hello"],
  "a version that goes on": ["v=spf10 mx -all"],
  "nothing but the version": ["v=spf1"],
  "a number above 255": ["v=spf1 ip4:9.9.9.999 -all"],
  "five numbers": ["v=spf1 ip4:1.2.3.4.5 -all"],
  "a broken IPv6 address": ["v=spf1 ip6:2606:::1 -all"],
  "an IPv6 address in ip4": ["v=spf1 ip4:2606:4700::1 -all"],
  "a length that is too long": ["v=spf1 ip4:9.9.9.9/33 -all"],
  "host bits set": ["v=spf1 ip4:9.9.9.9/24 -all"],
  "a missing space": ["v=spf1 ip4:9.9.9.9~all"],
  "a mechanism that does not exist": ["v=spf1 ipv4:9.9.9.9 -all"],
  "a word": ["v=spf1 mx moo -all"],
  "an include of nothing": ["v=spf1 include: -all"],
  "an include without SPF": ["v=spf1 include:none.test -all"],
  "an include of no domain": ["v=spf1 include:gone.test -all"],
  "an include of two records": ["v=spf1 include:two.test -all"],
  "an include with a fault": ["v=spf1 include:faulty.test -all"],
  "an include of itself": ["v=spf1 include:example.com -all"],
  "an include that comes back": ["v=spf1 include:back.test -all"],
  "an include twice": ["v=spf1 include:a.test include:a.test -all"],
  "a redirect": ["v=spf1 redirect=a.test"],
  "a redirect to nothing": ["v=spf1 redirect=gone.test"],
  "a redirect beside an all": ["v=spf1 -all redirect=a.test"],
  "two redirects": ["v=spf1 redirect=a.test redirect=a.test"],
  "a redirect with a colon": ["v=spf1 redirect:a.test"],
  "a term after the end": ["v=spf1 mx -all include:a.test"],
  "ten look-ups": [`v=spf1 ${many(10)} -all`],
  "eleven look-ups": [`v=spf1 ${many(11)} -all`],
  "three void look-ups": ["v=spf1 a:x.gone.test a:y.gone.test a:z.gone.test -all"],
  "a macro": ["v=spf1 exists:%{i}.a.test -all"],
  "a broken macro": ["v=spf1 exists:%{ -all"],
  "an unknown modifier": ["v=spf1 mx moo=1 -all"],
  "a neutral end": ["v=spf1 mx ?all"],
  "no end": ["v=spf1 mx"],
};

const DMARC_ZONES: Readonly<Record<string, readonly string[]>> = {
  "no record": [],
  "a sound record": [DMARC],
  "two records": [DMARC, "v=DMARC1; p=none"],
  "a version in small letters": [DMARC.replace("DMARC1", "dmarc1")],
  "a version that is not first": ["p=reject; v=DMARC1"],
  "a missing semicolon": ["v=DMARC1 p=reject"],
  "no p, and reports": ["v=DMARC1; rua=mailto:d@example.com"],
  "no p, and no reports": ["v=DMARC1; sp=reject"],
  "no p, and an sp": ["v=DMARC1; sp=reject; rua=mailto:d@example.com"],
  "a p that does not exist": ["v=DMARC1; p=rejct; rua=mailto:d@example.com"],
  "an sp that does not exist": ["v=DMARC1; p=reject; sp=all; rua=mailto:d@example.com"],
  "a weaker sp": [`${DMARC}; sp=none`],
  "a weaker np": [`${DMARC}; np=none`],
  "an sp and an np": [`${DMARC}; sp=quarantine; np=reject`],
  "a tag twice": ["v=DMARC1; p=reject; p=none; rua=mailto:d@example.com"],
  "obsolete tags": [`${DMARC}; pct=20; rf=afrf; ri=3600`],
  "a pct that is no number": [`${DMARC}; pct=all`],
  "a test": [`${DMARC}; t=y`],
  "an alignment that does not exist": [`${DMARC}; adkim=strict`],
  "a tag that does not exist": [`${DMARC}; policy=x`],
  "an address without mailto:": ["v=DMARC1; p=reject; rua=d@example.com"],
  "another organisation without its consent": ["v=DMARC1; p=reject; rua=mailto:d@reports.test"],
  "a final semicolon": [`${DMARC};`],
  "another text beside it": [DMARC, "hello"],
};

const ZONES: Readonly<Record<string, Zone>> = Object.fromEntries([
  ...Object.entries(SPF_ZONES).map(([name, spf]) => [
    `SPF: ${name}`,
    createZone(spf, [DMARC], SENDERS),
  ]),
  ...Object.entries(DMARC_ZONES).map(([name, dmarc]) => [
    `DMARC: ${name}`,
    createZone([SPF], dmarc),
  ]),
]);

type Difference = {
  readonly part: "spf" | "dmarc";
  readonly ours: number | string;
  readonly theirs: number | string | null;
  readonly right: "ours" | "theirs" | "either";
  readonly why: string;
};

/** Where the two differ, who is right, and by which clause. */
const DIFFERENCES: Readonly<Record<string, Difference>> = {
  "SPF: capital letters": {
    part: "spf",
    ours: 1,
    theirs: "broken",
    right: "ours",
    why: "RFC 7208 §12 writes the version as a string of ABNF, whose letters have no case (RFC 5234 §2.3).",
  },
  "DMARC: no p, and no reports": {
    part: "dmarc",
    ours: "broken",
    theirs: "none reject reject",
    right: "ours",
    why: "RFC 9989 §4.10.1: without a valid p and a valid rua receivers apply no DMARC.",
  },
  "DMARC: no p, and an sp": {
    part: "dmarc",
    ours: "none none none",
    theirs: "none reject reject",
    right: "either",
    why: "RFC 9989 §4.7 puts p=none into the record; §4.10.1 puts a record with p=none in its place.",
  },
  "DMARC: a p that does not exist": {
    part: "dmarc",
    ours: "none none none",
    theirs: "broken",
    right: "ours",
    why: "RFC 9989 §4.10.1: with a valid rua receivers act as if the record had p=none.",
  },
  "DMARC: an sp that does not exist": {
    part: "dmarc",
    ours: "none none none",
    theirs: "broken",
    right: "ours",
    why: "RFC 9989 §4.10.1: with a valid rua receivers act as if the record had p=none.",
  },
  "DMARC: an address without mailto:": {
    part: "dmarc",
    ours: "reject reject reject",
    theirs: "broken",
    right: "ours",
    why: "RFC 9989 §4.10.1 asks for a valid rua only where p, sp or np is not valid.",
  },
  "DMARC: another text beside it": {
    part: "dmarc",
    ours: "reject reject reject",
    theirs: "broken",
    right: "ours",
    why: "RFC 9989 §4.10 discards texts that do not start with v=DMARC1.",
  },
};

// Goal: a domain's SPF and DMARC are broken, cost as many look-ups and ask for the policies that another checker says, or
// a row of DIFFERENCES says who is right.
// Method: checkdmarc (PyPI) reads the same zones.

type Answer = {
  /** Look-ups of a sound policy. */
  readonly spf?: number | string;
  /** The policies of a sound record: for the domain, its subdomains, and names that do not exist. */
  readonly dmarc?: string;
};

const readByCheckdmarc = (): readonly Answer[] => {
  const { status, stdout, stderr } = spawnSync(
    join(getToolFolder("checkdmarc"), "bin/python"),
    [join(import.meta.dirname, "tools/checkdmarc/run.py")],
    {
      input: Object.values(ZONES)
        .map((zone) => `${JSON.stringify(zone)}\n`)
        .join(""),
      encoding: "utf8",
    },
  );
  const answers = stdout.split("\n").filter((line) => line !== "");
  if (status !== 0 || answers.length !== Object.keys(ZONES).length)
    throw new Error(`It ended with ${status} after ${answers.length} answers: ${stderr}`);
  return answers.map((line) => JSON.parse(line) as Answer);
};

const readByUs = async (zone: Zone): Promise<Answer> => {
  const dns = createZoneDns(zone);
  const [spf, { found }] = await Promise.all([
    analyseSpf(dns, { domain: "example.com" }),
    discover(dns, "example.com"),
  ]);
  const policies = [
    ["example.com", true],
    ["www.example.com", true],
    ["gone.example.com", false],
  ] as const;
  const asked = policies.map(([name, exists]) => found && getPublishedPolicy(found, name, exists));
  return {
    spf: spf.status === "fail" || spf.status === "missing" ? "broken" : spf.lookups,
    // RFC 6376 §3.2: a tag that stands twice makes the list invalid.
    dmarc: asked.includes(null) || found?.record.repeatedTags.length ? "broken" : asked.join(" "),
  };
};

describeUnless(findToolAbsence("checkdmarc"), "domains compared with checkdmarc", () => {
  let theirs: readonly Answer[] = [];
  beforeAll(() => {
    theirs = readByCheckdmarc();
  });

  test.each(Object.entries(ZONES).map(([name, zone], at) => [name, zone, at] as const))(
    "checkdmarc and ours agree on %s, or a listed difference states who is right",
    async (name, zone, at) => {
      const ours = await readByUs(zone);
      const their = theirs[at];
      const parts = (["spf", "dmarc"] as const).filter((part) => ours[part] !== their?.[part]);
      const differences = parts.map((part) => ({
        part,
        ours: ours[part],
        theirs: their?.[part] ?? null,
      }));
      const { [name]: expected } = DIFFERENCES;

      expect(differences).toEqual(
        expected ? [{ part: expected.part, ours: expected.ours, theirs: expected.theirs }] : [],
      );
    },
  );

  test("each listed difference from checkdmarc belongs to a zone", () => {
    expect(Object.keys(DIFFERENCES).filter((name) => !(name in ZONES))).toEqual([]);
  });
});
