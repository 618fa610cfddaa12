import { findDaneHints } from "@mailproof/mail/hints/dane";
import { expect, test } from "vitest";
import { createZoneDns, type Records, type Zone } from "../../zone.ts";

const DOMAIN = "example.com";
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

test.each<Row>([
  ["nothing is signed, and the resolver validates nothing", HOME, [], [], []],
  ["the domain is not signed, and the resolver validates", HOME, ["com"], ["DNSSEC_MISSING"], []],
  ["the domain is signed, and no host pins its key", HOME, ALL, ["DANE_MISSING"], []],
  ["every host pins its key", pins([PIN], [PIN]), ALL, ["DANE_PRESENT"], [HOST, OTHER]],
  ["one host pins its key", pins([PIN], undefined), ALL, ["DANE_PARTIAL"], [HOST, OTHER]],
  ["the records are not validated", pins([PIN], [PIN]), [], ["DANE_UNSIGNED"], [HOST, DOMAIN]],
  [
    "the domain is signed, and the zone of one host is not",
    pins([PIN], [PIN]),
    [DOMAIN, NAMES[0] ?? ""],
    ["DANE_UNSIGNED"],
    [`for ${OTHER}`],
  ],
  [
    "the hosts are signed, and the domain is not",
    pins([PIN], [PIN]),
    ["com", ...NAMES],
    ["DANE_UNSIGNED"],
    [`the MX records of ${DOMAIN}`],
  ],
  [
    "the records are for web servers",
    pins([`1 1 1 ${"a5".repeat(32)}`], [PIN]),
    ALL,
    ["DANE_BAD"],
    [HOST],
  ],
  [
    "a hash has half its length",
    pins([`3 1 2 ${"a5".repeat(32)}`], undefined),
    ALL,
    ["DANE_BAD"],
    [],
  ],
  ["a matching type does not exist", pins(["3 1 9 a5"], undefined), ALL, ["DANE_BAD"], []],
  [
    "one record of two is of use",
    pins(["1 0 1 a5", "2 0 0 a5a5"], [PIN]),
    ALL,
    ["DANE_PRESENT"],
    [],
  ],
  ["a name server fails at the records", pins("SERVFAIL", "TIMEOUT"), ALL, [], []],
  ["one fails, and one host pins its key", pins([PIN], "SERVFAIL"), ALL, ["DANE_PRESENT"], [HOST]],
  ["the MX does not answer", { ...HOME, [DOMAIN]: { MX: "TIMEOUT" } }, ALL, [], []],
])("where %s, this is reported", async (_, zone, signed, ids, reported) => {
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
