import { createHash } from "node:crypto";
import { BUDGET_MS } from "@mailproof/core/deliverability/analyse-domain";
import { CONFIDENCES, measureCoverage } from "@mailproof/core/deliverability/coverage";
import { type CheckComponent, COMPONENTS } from "@mailproof/core/deliverability/findings";
import { WEIGHTS } from "@mailproof/core/deliverability/score";
import { BLOCKLISTS } from "@mailproof/mail/blocklists/lists";
import type { Dns } from "@mailproof/mail/dns/dns";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createVirtualTime } from "../../app/virtual-time.ts";
import { createZoneDns, type Zone } from "../../app/zone.ts";
import { RSA_2048 } from "../../things/dkim-keys.ts";
import { whenChecked } from "./findings.ts";

// Goal: no zone makes a check cost many questions, or much time.

const IP = "192.0.2.10";
const KEYS = { spamhaus: "k3y", barracuda: "registered" };
const createZone = (list: (typeof BLOCKLISTS)[number]) => list.zone.replace("KEY", KEYS.spamhaus);

const many = <T>(count: number, make: (n: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, n) => make(n));

const HOSTS = many(4, (n) => `mx${n}.example.com`);
const SENDERS = many(9, (n) => `spf${n}.test`);

/** As much as an ordinary firm publishes, and a little more of everything. */
const given = (domain: string, keys: Zone): Zone => ({
  [domain]: {
    MX: HOSTS.map((host, n) => `${n}0 ${host}`),
    NS: ["ns1.example.net", "ns2.example.net"],
    TXT: [`v=spf1 mx ${SENDERS.map((name) => `include:${name}`).join(" ")} ~all`],
  },
  ...Object.fromEntries(HOSTS.map((host, n) => [host, { A: [`192.0.2.${n}`] }])),
  ...Object.fromEntries(
    SENDERS.map((name) => [name, { TXT: ["v=spf1 ip4:198.51.100.0/24 -all"] }]),
  ),
  ...keys,
  "_dmarc.example.com": {
    TXT: ["v=DMARC1; p=reject; rua=mailto:d@a-reports.test,mailto:d@b-reports.test"],
  },
  "a-reports.test": { MX: ["10 mx.a-reports.test"] },
  "b-reports.test": { MX: ["10 mx.b-reports.test"] },
  "10.2.0.192.in-addr.arpa": { PTR: ["out.example.com", "out.example.net"] },
  "out.example.com": { A: [IP] },
});

const getQuestions = async (domain: string, keys: Zone) => {
  const dns = createZoneDns(given(domain, keys));
  const found = await whenChecked(dns, {
    domain,
    sendingIp: IP,
    blocklists: { lists: BLOCKLISTS, keys: KEYS, isHealthy: async () => true },
  });
  expect(found).toMatchObject({ kind: "report" });
  const forLists = dns.calls.filter((call) =>
    BLOCKLISTS.some((list) => call.endsWith(createZone(list))),
  );
  return { all: dns.calls.length, lists: forLists.length };
};

const SELECTOR = { TXT: [`v=DKIM1; p=${RSA_2048}`] };

test("a check of a domain with keys asks some 110 questions, of which each blocklist gets one", async () => {
  const { all, lists } = await getQuestions("example.com", {
    "k1._domainkey.example.com": SELECTOR,
  });

  expect(lists).toBe(BLOCKLISTS.length);
  expect(all).toBeGreaterThan(80);
  expect(all).toBeLessThanOrEqual(110);
});

test("where no name is below _domainkey, it asks two thirds as many at most", async () => {
  const withKeys = await getQuestions("example.com", { "k1._domainkey.example.com": SELECTOR });
  const without = await getQuestions("example.com", {});

  expect(without.all).toBeLessThanOrEqual(withKeys.all * 0.65);
});

test("a long name costs seven questions more, and one for each foreign receiver of the reports that it would ask for itself", async () => {
  const domain = "a.b.c.d.e.f.g.h.example.com";
  const short = await getQuestions("example.com", {});
  const long = await getQuestions(domain, {});

  expect(long.all - short.all).toBeLessThanOrEqual(7 + 2);
});

/** Names of two kinds: those of one have servers that answer at once, those of the other have none that do. */
const halfSilent = (names: Zone, seed: number) => {
  const dns = createZoneDns(names);
  const { now, sleep } = createVirtualTime(new Date(Date.UTC(2026, 10, 21)));
  const isSilent = (name: string) =>
    createHash("sha1").update(`${seed} ${name}`).digest().readUInt8() % 2 === 0;
  const SILENCE_MS = 4_500;
  const ask: Dns = async (type, name) => {
    if (!isSilent(name)) return dns(type, name);
    await sleep(SILENCE_MS);
    return { kind: "timeout" };
  };
  return { ask, now, sleep };
};

test("where half of the name servers are silent, there is an end in time, and mostly a report", async () => {
  const kinds = [];
  for (let seed = 1; seed <= 40; seed += 1) {
    const { ask, now, sleep } = halfSilent(
      given("example.com", { "k1._domainkey.example.com": SELECTOR }),
      seed,
    );
    const startedMs = now().getTime();

    const { kind } = await whenChecked(ask, {
      sendingIp: IP,
      ports: { now, sleep },
      blocklists: { lists: BLOCKLISTS, keys: KEYS, isHealthy: async () => true },
    });

    kinds.push(kind);
    expect(now().getTime() - startedMs).toBeLessThanOrEqual(BUDGET_MS);
  }
  expect(kinds.filter((kind) => kind === "report").length).toBeGreaterThan(20);
});

const answering = (components: readonly CheckComponent[], sendingIp: string | null = null) =>
  measureCoverage({
    scored: {
      parts: components.map((component) => ({ component, weight: WEIGHTS[component], score: 0 })),
    },
    sendingIp,
  });

test.each<[readonly CheckComponent[], string | null, string, readonly string[]]>([
  [["dns", "spf", "dkim", "dmarc", "reputation"], null, "high", []],
  [["dns", "spf", "dkim", "dmarc", "reputation"], "192.0.2.1", "medium", ["ptr"]],
  [[...COMPONENTS], "192.0.2.1", "high", []],
  [["spf", "dkim", "dmarc"], null, "medium", ["dns", "reputation"]],
  // 55 of 95, and 40 of 95.
  [["dns", "dkim", "dmarc"], null, "medium", ["spf", "reputation"]],
  [["dkim", "dmarc"], null, "low", ["dns", "spf", "reputation"]],
  // 45 of 100: reverse DNS counts where an address was given.
  [["dkim", "dmarc", "ptr"], "192.0.2.1", "low", ["dns", "spf", "reputation"]],
  [["dns"], null, "low", ["spf", "dkim", "dmarc", "reputation"]],
])(
  "with %j answered and %s as the address the confidence is %s",
  (parts, ip, confidence, missing) => {
    expect(answering(parts, ip)).toEqual({ confidence, missing });
  },
);

test("another answer never lowers the confidence", () => {
  fc.assert(
    fc.property(
      fc.subarray([...COMPONENTS]),
      fc.constantFrom(...COMPONENTS),
      fc.constantFrom(null, "192.0.2.1"),
      (some, one, ip) => {
        const rank = (parts: readonly CheckComponent[]) =>
          CONFIDENCES.indexOf(answering(parts, ip).confidence);
        expect(rank([...new Set([...some, one])])).toBeLessThanOrEqual(rank(some));
      },
    ),
  );
});
