import { analyseBlocklists } from "@mailproof/mail/blocklists/analyse";
import { createListHealth } from "@mailproof/mail/blocklists/health";
import { BLOCKLISTS, type Blocklist, createList } from "@mailproof/mail/blocklists/lists";
import { parseAnswer } from "@mailproof/mail/blocklists/parse-answer";
import type { Dns } from "@mailproof/mail/dns/dns";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";

const START_MS = Date.UTC(2026, 10, 21);
const IP = "192.0.2.66";
const REVERSED = "66.2.0.192";
const KEY = "abcdefghijklmnopqrstuvwxyz";

const listed = (...A: string[]) => ({ A });
/** What a list must answer to count as alive. */
const alive = (zoneName: string): Zone => ({ [`2.0.0.127.${zoneName}`]: listed("127.0.0.2") });

type Given = {
  readonly lists?: readonly Blocklist[];
  readonly keys?: Readonly<Record<string, string>>;
  readonly ip?: string | null;
};

const whenLooked = (
  dns: Dns,
  { lists = [createList("bl.test")], keys = {}, ip = IP }: Given = {},
) => {
  const isHealthy = createListHealth(() => new Date(START_MS));
  return analyseBlocklists(dns, { domain: "example.com", ip, lists, keys, isHealthy });
};

test("a listed address costs the points of the blocklist's code", async () => {
  const dns = createZoneDns({ ...alive("bl.test"), [`${REVERSED}.bl.test`]: listed("127.0.0.2") });

  expect(await whenLooked(dns)).toMatchObject({
    score: 80,
    checked: 1,
    listed: 1,
    listedOn: [{ id: "bl.test", listed: IP, codes: ["127.0.0.2"] }],
    issues: [{ id: "LISTED:bl.test", costPoints: 20 }],
  });
});

test("an address on no blocklist costs no points", async () => {
  expect(await whenLooked(createZoneDns(alive("bl.test")))).toMatchObject({
    score: 100,
    checked: 1,
    listed: 0,
    issues: [],
  });
});

test.each(asRows<readonly [what: string, zone: Zone]>`
  is empty, as dead ones are | ${{ "bl.test": { A: ["192.0.2.1"] } }}
  no longer exists | ${{}}
  lists the world | ${{ "2.0.0.127.bl.test": listed("127.0.0.2"), "1.0.0.127.bl.test": listed("127.0.0.2") }}
  refuses us by a code | ${{ "2.0.0.127.bl.test": listed("127.255.255.254"), "1.0.0.127.bl.test": listed("127.255.255.254") }}
  is parked | ${{ "2.0.0.127.bl.test": listed("93.184.216.34"), "1.0.0.127.bl.test": listed("93.184.216.34") }}
  does not answer | ${{ "2.0.0.127.bl.test": "TIMEOUT", "1.0.0.127.bl.test": "TIMEOUT" }}
`)("the check skips a blocklist that %s, and sends it no query", async (_, names) => {
  const dns = createZoneDns({ ...names, [`${REVERSED}.bl.test`]: listed("127.0.0.2") });

  expect(await whenLooked(dns)).toMatchObject({ score: null, checked: 0, skipped: 1, total: 1 });
  expect(dns.calls).not.toContain(`A ${REVERSED}.bl.test`);
});

test("the check returns no verdict for a live blocklist whose answer fails", async () => {
  const dns = createZoneDns({ ...alive("bl.test"), [`${REVERSED}.bl.test`]: "SERVFAIL" });

  expect(await whenLooked(dns)).toMatchObject({ score: null, checked: 0, inconclusive: 1 });
});

test("the check without an address skips the blocklists of addresses, and asks the blocklists of domains", async () => {
  const dns = createZoneDns({
    ...alive("bl.test"),
    "2.0.0.127.multi.surbl.org": listed("127.0.0.254"),
    "example.com.multi.surbl.org": listed("127.0.0.64"),
  });
  const lists = [createList("bl.test"), ...BLOCKLISTS.filter(({ id }) => id === "surbl")];

  expect(await whenLooked(dns, { lists, ip: null })).toMatchObject({
    checked: 1,
    skipped: 1,
    score: 50,
    listedOn: [{ id: "surbl", listed: "example.com" }],
  });
});

test("the check asks a blocklist that needs a key with the key, and its findings omit the key", async () => {
  const lists = BLOCKLISTS.filter(({ id }) => id === "spamhaus-zen");
  const zen = `${KEY}.zen.dq.spamhaus.net`;
  const dns = createZoneDns({ ...alive(zen), [`${REVERSED}.${zen}`]: listed("127.0.0.2") });
  const found = await whenLooked(dns, { lists, keys: { spamhaus: KEY } });

  expect(found).toMatchObject({ listed: 1, score: 40, issues: [{ severity: "critical" }] });
  expect(JSON.stringify(found)).not.toContain(KEY);
});

test.each(["", "two.labels", "*", "a b"])(
  "the check does not ask a blocklist with the invalid key %j",
  async (key) => {
    const lists = BLOCKLISTS.filter(({ id }) => id === "spamhaus-zen");
    const dns = createZoneDns({});

    expect(await whenLooked(dns, { lists, keys: { spamhaus: key } })).toMatchObject({ skipped: 1 });
    expect(dns.calls).toEqual([]);
  },
);

test("the check without keys skips exactly the blocklists that need one", async () => {
  const dns = createZoneDns(Object.assign({}, ...BLOCKLISTS.map((list) => alive(list.zone))));
  const { outcomes } = await whenLooked(dns, { lists: BLOCKLISTS });
  const leftOut = outcomes.filter(({ verdict }) => verdict.kind === "skipped");

  expect(leftOut.map(({ list }) => list.id)).toEqual([
    "spamhaus-zen",
    "spamhaus-dbl",
    "spamhaus-zrd",
    "barracuda",
  ]);
});

test.each(["sorbs", "manitu", "abuseat", "unsubscore", "inps", "njabl", "ahbl"])(
  "the check does not ask the dead blocklist of %s",
  (dead) => {
    expect(BLOCKLISTS.filter(({ zone: at }) => at.includes(dead))).toEqual([]);
  },
);

test("no two blocklists share an id or a zone", () => {
  for (const of of ["id", "zone"] as const) {
    const all = BLOCKLISTS.map((list) => list[of]);
    expect(all).toEqual([...new Set(all)]);
  }
});

test("the check tests a blocklist once an hour, and sooner after a failed test", async () => {
  let ms = START_MS;
  const isHealthy = createListHealth(() => new Date(ms));
  const probes = async (names: Zone) => {
    const dns = createZoneDns(names);
    const verdicts = await Promise.all(
      [1, 2].map(() => isHealthy(dns, createList("bl.test"), "bl.test")),
    );
    return [verdicts, dns.calls.length] as const;
  };

  expect(await probes({ "2.0.0.127.bl.test": "TIMEOUT" })).toEqual([[false, false], 2]);
  expect(await probes(alive("bl.test"))).toEqual([[false, false], 0]);
  ms += 60_000;
  expect(await probes(alive("bl.test"))).toEqual([[true, true], 2]);
  ms += 3_599_999;
  expect(await probes({})).toEqual([[true, true], 0]);
  ms += 1;
  expect(await probes({})).toEqual([[false, false], 2]);
});

const getCodes = (id: string) =>
  (BLOCKLISTS.find((list) => list.id === id) ?? createList(id)).codes;

const whenAnswered = (id: string, ...records: string[]) =>
  parseAnswer(getCodes(id), records.length > 0 ? { kind: "ok", records } : { kind: "nxdomain" });

test.each([
  ["spamhaus-zen", "127.0.0.2", 60],
  ["spamhaus-zen", "127.0.0.3", 40],
  ["spamhaus-zen", "127.0.0.4", 60],
  ["spamhaus-zen", "127.0.0.9", 60],
  ["spamhaus-zen", "127.0.0.10", 15],
  ["spamhaus-zen", "127.0.0.11", 15],
  ["spamhaus-zen", "127.0.0.30", 60],
  ["spamhaus-dbl", "127.0.1.2", 60],
  ["spamhaus-dbl", "127.0.1.4", 60],
  ["spamhaus-dbl", "127.0.1.103", 30],
  ["spamhaus-zrd", "127.0.2.2", 20],
  ["spamhaus-zrd", "127.0.2.24", 20],
  ["spamcop", "127.0.0.2", 30],
  ["barracuda", "127.0.0.2", 30],
  ["psbl", "127.0.0.2", 20],
  ["mailspike", "127.0.0.2", 20],
  ["mailspike", "127.0.0.12", 20],
  ["surbl", "127.0.0.8", 50],
  ["surbl", "127.0.0.80", 50],
  ["uribl", "127.0.0.2", 40],
  ["uribl", "127.0.0.4", 5],
  ["uribl", "127.0.0.8", 10],
  ["uribl", "127.0.0.14", 40],
  ["uceprotect-1", "127.0.0.2", 5],
  ["spameatingmonkey", "127.0.0.3", 10],
  ["blocklist-de", "127.0.0.14", 10],
  ["bl.example.org", "127.0.0.2", 20],
  ["bl.example.org", "127.0.1.2", 20],
  ["bl.example.org", "127.2.3.4", 20],
])("the blocklist %s lists by %s, at a cost of %i points", (id, address, costPoints) => {
  expect(whenAnswered(id, address)).toMatchObject({
    kind: "listed",
    codes: [address],
    meaning: { costPoints },
  });
});

test.each([
  ["any", "127.255.255.250"],
  ["any", "127.255.255.251"],
  ["any", "127.255.255.252"],
  ["any", "127.255.255.254"],
  ["any", "127.255.255.255"],
  ["any", "127.0.0.1"],
  ["any", "10.0.0.1"],
  ["any", "93.184.216.34"],
  ["spamhaus-dbl", "127.0.1.255"],
  ["spamhaus-dbl", "127.0.0.2"],
  ["spamhaus-zen", "127.0.0.99"],
  ["spamhaus-zrd", "127.0.2.25"],
  ["surbl", "127.0.0.1"],
  ["surbl", "127.0.0.9"],
  ["uribl", "127.0.0.3"],
  ["surbl", "127.0.1.8"],
])("the check of %s treats the code %s as no verdict", (id, address) => {
  const ids = id === "any" ? BLOCKLISTS.map((list) => list.id) : [id];

  for (const one of ids) expect(whenAnswered(one, address).kind).toBe("inconclusive");
});

test.each(["127.0.0.13", "127.0.0.16", "127.0.0.20"])(
  "Mailspike praises an address by the code %s, which lists nothing",
  (address) => {
    expect(whenAnswered("mailspike", address)).toEqual({ kind: "not_listed" });
  },
);

test.each(BLOCKLISTS)("the check treats a missing name at $id as not listed", ({ codes }) => {
  expect(parseAnswer(codes, { kind: "nxdomain" })).toEqual({ kind: "not_listed" });
  expect(parseAnswer(codes, { kind: "nodata" })).toEqual({ kind: "not_listed" });
});

test.each(["servfail", "refused", "timeout"] as const)(
  "the check treats %s as no verdict",
  (kind) => {
    expect(parseAnswer(getCodes("spamcop"), { kind })).toEqual({ kind: "inconclusive", why: kind });
  },
);

test("the check counts a real code beside an error code", () => {
  expect(whenAnswered("spamhaus-zen", "127.255.255.255", "127.0.0.4")).toMatchObject({
    kind: "listed",
    codes: ["127.0.0.4"],
  });
});

test("the check counts the gravest of several codes", () => {
  expect(whenAnswered("spamhaus-zen", "127.0.0.11", "127.0.0.9", "127.0.0.2")).toMatchObject({
    codes: ["127.0.0.11", "127.0.0.9", "127.0.0.2"],
    meaning: { costPoints: 60, severity: "critical" },
  });
});
