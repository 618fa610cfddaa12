import { createHash } from "node:crypto";
import { BUDGET_MS } from "@mailproof/core/deliverability/analyse-domain";
import { CONFIDENCES, measureCoverage } from "@mailproof/core/deliverability/coverage";
import { type CheckComponent, COMPONENTS } from "@mailproof/core/deliverability/findings";
import { MODEL_VERSION, WEIGHTS } from "@mailproof/core/deliverability/score";
import { createListHealth } from "@mailproof/mail/blocklists/health";
import { BLOCKLISTS, createList } from "@mailproof/mail/blocklists/lists";
import type { Dns } from "@mailproof/mail/dns/dns";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createVirtualTime } from "../../app/virtual-time.ts";
import { createZoneDns, type Zone } from "../../app/zone.ts";
import { RSA_2048 } from "../../things/dkim-keys.ts";
import { createReport, LIST, whenChecked } from "./findings.ts";

const IP = "8.8.8.10";

/** A domain without fault, as small as one can be. */
const GOOD: Zone = {
  "example.com": {
    MX: ["10 mx1.example.com", "20 mx2.example.com"],
    NS: ["ns1.example.net", "ns2.example.net"],
    TXT: ["v=spf1 mx include:sendgrid.net -all"],
  },
  "sendgrid.net": { TXT: [`v=spf1 ip4:${IP} -all`] },
  "mx1.example.com": { A: ["8.8.8.8"] },
  "mx2.example.com": { A: ["1.1.1.1"] },
  "s1._domainkey.example.com": { TXT: [`v=DKIM1; p=${RSA_2048}`] },
  "_dmarc.example.com": { TXT: ["v=DMARC1; p=reject; np=reject; rua=mailto:d@example.com"] },
  "_mta-sts.example.com": { TXT: ["v=STSv1; id=1;"] },
  "_smtp._tls.example.com": { TXT: ["v=TLSRPTv1; rua=mailto:t@example.com"] },
  "default._bimi.example.com": {
    TXT: ["v=BIMI1; l=https://example.com/l.svg; a=https://example.com/l.pem"],
  },
  "10.8.8.8.in-addr.arpa": { PTR: ["out.example.com"] },
  "out.example.com": { A: [IP] },
  [`2.0.0.127.${LIST}`]: { A: ["127.0.0.2"] },
};

test("the check gives a domain without fault 100 points and no recommendation", async () => {
  const report = await createReport(createZoneDns(GOOD), { sendingIp: IP });

  expect(report.scored).toMatchObject({ score: 100, grade: "A", cappedBy: null });
  expect(report.recommendations).toEqual([]);
  expect(report.spamAssessment).toMatchObject({ score: 0, likelihood: "low" });
  expect(report).toMatchObject({
    modelVersion: MODEL_VERSION,
    mx: { status: "pass", hasValidMx: true },
    spf: { status: "pass" },
    dkim: { status: "pass", selectorsFound: ["s1"] },
    dmarc: { status: "pass", policy: "reject" },
    reputation: { score: 100, checked: 1, listed: 0 },
    reverseDns: { name: "out.example.com", isConfirmed: true },
    hints: [],
  });
});

test("the check asks no PTR without a sending address, and asks the blocklists about the first mail host", async () => {
  const dns = createZoneDns({ ...GOOD, [`8.8.8.8.${LIST}`]: { A: ["127.0.0.2"] } });
  const report = await createReport(dns);

  expect(report.reverseDns).toBeNull();
  expect(report.reputation.listedOn).toMatchObject([{ listed: "8.8.8.8" }]);
  expect(report.scored.parts.map(({ component }) => component)).not.toContain("ptr");
  expect(dns.calls.filter((call) => call.startsWith("PTR"))).toEqual([]);
});

test("the check asks no blocklist about an address that is not public", async () => {
  const report = await createReport(
    createZoneDns({
      ...GOOD,
      "mx1.example.com": { A: ["10.0.0.1"] },
      "mx2.example.com": { AAAA: ["2606:4700::1"] },
    }),
  );

  expect(report.reputation).toMatchObject({ score: null, skipped: 1, total: 1 });
});

test("the check asks no blocklist about a second mail host when the first one is silent", async () => {
  const listed = { [`1.1.1.1.${LIST}`]: { A: ["127.0.0.2"] } };
  const silent = await createReport(
    createZoneDns({ ...GOOD, ...listed, "mx1.example.com": "TIMEOUT" }),
  );
  const gone = await createReport(createZoneDns({ ...GOOD, ...listed, "mx1.example.com": {} }));

  expect(silent.reputation).toMatchObject({ skipped: 1, listed: 0 });
  expect(gone.reputation).toMatchObject({ skipped: 0, listed: 1 });
});

test("the check sends each DNS query once", async () => {
  const dns = createZoneDns(GOOD);

  await whenChecked(dns, { sendingIp: IP });

  expect(dns.calls).toEqual([...new Set(dns.calls)]);
});

test("the check asks first for the DKIM selectors of a provider that SPF shows", async () => {
  const { dnsQueries: questions } = await createReport(createZoneDns(GOOD));
  const selectors = questions
    .map(({ name }) => /^(\w+)\._domainkey/.exec(name)?.[1])
    .filter(Boolean);

  expect(selectors.slice(0, 3)).toEqual(["r4nd0m", "s1", "s2"]);
});

test.each(["TIMEOUT", "SERVFAIL", "REFUSED"] as const)(
  "the check returns no verdict when every DNS query ends with %s",
  async (trouble) => {
    const kind = trouble.toLowerCase() as "timeout" | "servfail" | "refused";
    const dns: Dns = async () => ({ kind });

    expect(await whenChecked(dns, { sendingIp: IP })).toEqual({
      kind: "no_verdict",
      why: "unanswered",
    });
  },
);

test("the check returns no verdict about a silent domain, although blocklists, the parent or our resolver answer", async () => {
  const good = createZoneDns(GOOD);
  const dns: Dns = async (type, name) => {
    if (name.startsWith("_dmarc.")) return { kind: "internal" };
    return name.endsWith("example.com") ? { kind: "timeout" } : good(type, name);
  };
  const listed = createZoneDns({ ...GOOD, [`1.1.1.1.${LIST}`]: { A: ["127.0.0.2"] } });

  expect(await whenChecked(dns, { sendingIp: IP, ports: { listDns: listed } })).toEqual({
    kind: "no_verdict",
    why: "unanswered",
  });
});

/** Wakes all sleepers at once, when everything that answers has answered. */
const givenAlarm = () => {
  const sleepers: (() => void)[] = [];
  const sleep = () => new Promise<void>((wake) => void sleepers.push(wake));
  const ring = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    for (const wake of sleepers) wake();
  };
  return { sleep, ring };
};

test("the check reports its findings so far when its time is over", async () => {
  const good = createZoneDns(GOOD);
  const dns: Dns = (type, name) =>
    name.includes("_domainkey") || name.endsWith(LIST) ? new Promise(() => {}) : good(type, name);
  const { sleep, ring } = givenAlarm();
  const checked = createReport(dns, { ports: { sleep, listDns: good } });
  await ring();

  expect(await checked).toMatchObject({
    scored: { score: 100 },
    dkim: { status: "error", score: null },
    dmarc: { score: 100 },
  });
});

test("a softfail of SPF costs points when DMARC decides nothing", async () => {
  const soft = (policy: string): Zone => ({
    ...GOOD,
    "example.com": { ...(GOOD["example.com"] as object), TXT: ["v=spf1 mx ~all"] },
    "_dmarc.example.com": { TXT: [`v=DMARC1; p=${policy}; rua=mailto:d@example.com`] },
  });

  expect((await createReport(createZoneDns(soft("reject")))).spf).toMatchObject({ score: 100 });
  expect((await createReport(createZoneDns(soft("none")))).spf).toMatchObject({ score: 95 });
});

test("the check subtracts no points for a null MX when every record of the domain forbids sending", async () => {
  const parked = (end: string): Zone => ({
    "example.com": { MX: ["0 ."], TXT: [`v=spf1 ${end}`] },
    "_dmarc.example.com": { TXT: ["v=DMARC1; p=reject; np=reject"] },
  });

  expect((await createReport(createZoneDns(parked("-all")))).mx).toMatchObject({
    score: 100,
    hasValidMx: false,
    issues: [
      { id: "MX_NULL", severity: "info", costPoints: 0 },
      { id: "EMAIL_VERIFICATION_NONE", severity: "info", costPoints: 0 },
    ],
  });
  expect((await createReport(createZoneDns(parked("a -all")))).mx).toMatchObject({ score: 0 });
});

test("a blocklist without a verdict costs no points, and the check recommends nothing when no blocklist answers", async () => {
  const report = await createReport(createZoneDns({ ...GOOD, [`8.8.8.8.${LIST}`]: "SERVFAIL" }));

  expect(report.reputation).toMatchObject({ score: null, inconclusive: 1 });
  expect(report.scored.score).toBe(100);
  expect(report.recommendations).toEqual([]);
  expect(measureCoverage(report)).toEqual({ confidence: "medium", missing: ["reputation"] });
});

test("the check sends blocklist queries through their own DNS port when the caller provides one", async () => {
  const listDns = createZoneDns({ [`2.0.0.127.${LIST}`]: { A: ["127.0.0.2"] } });
  const report = await createReport(createZoneDns({ ...GOOD, [`2.0.0.127.${LIST}`]: "REFUSED" }), {
    ports: { listDns },
  });

  expect(report.reputation).toMatchObject({ checked: 1 });
});

test("the check gives up a fetch of documents with its time, and counts no fault of the domain", async () => {
  const { sleep, ring } = givenAlarm();
  const checked = createReport(createZoneDns(GOOD), {
    ports: { sleep, fetchDocument: () => new Promise(() => {}) },
  });
  await ring();

  expect(await checked).toMatchObject({
    scored: { score: 100 },
    hints: [{ id: "MTA_STS_UNCHECKED" }, { id: "BIMI_LOGO_UNCHECKED" }],
  });
});

test("a fetch that begins late ends when the check's time is over", async () => {
  const { now, sleep } = createVirtualTime(new Date(Date.UTC(2026, 10, 21)));
  const names = createZoneDns(GOOD);
  const slow: Dns = async (type, name) => {
    if (name.includes("_bimi")) await sleep(7_000);
    return names(type, name);
  };
  const startedMs = now().getTime();
  await createReport(slow, { ports: { now, sleep, fetchDocument: () => new Promise(() => {}) } });

  expect(now().getTime() - startedMs).toBeLessThanOrEqual(BUDGET_MS);
});

const PIN = { TLSA: [`3 1 1 ${"a5".repeat(32)}`] };
const PINNED: Zone = {
  ...GOOD,
  com: { NS: ["a.gtld.example"] },
  "_25._tcp.mx1.example.com": PIN,
  "_25._tcp.mx2.example.com": PIN,
};

test.each<readonly [what: string, zone: Zone, signed: readonly string[], ids: readonly string[]]>([
  ["is signed", GOOD, ["example.com"], ["DANE_MISSING"]],
  ["is not signed, though its top-level domain is", PINNED, ["com"], ["DANE_UNSIGNED"]],
  ["shows no signature to this resolver", GOOD, [], []],
])("the check reports the hint for a domain that %s", async (_, zone, signed, ids) => {
  const report = await createReport(createZoneDns(zone, signed));

  expect(report.hints.map(({ id }) => id)).toEqual(ids);
  expect(report.scored.score).toBe(100);
});

test("the check lists existing features among its findings, and recommends nothing about them", async () => {
  const signed = ["example.com", "_25._tcp.mx1.example.com", "_25._tcp.mx2.example.com"];
  const { mx, dmarc, hints, recommendations } = await createReport(createZoneDns(PINNED, signed));

  expect(mx.issues.map(({ id }) => id)).toEqual(["DANE_PRESENT", "EMAIL_VERIFICATION_NONE"]);
  expect(dmarc.issues.map(({ id }) => id)).toEqual(["BIMI_CERTIFICATE"]);
  expect([...hints, ...recommendations]).toEqual([]);
});

test("the check fetches a document of the domain, and lists its findings beside those of DNS", async () => {
  const fetchDocument = async (url: string) => {
    const body = url.endsWith("/mta-sts.txt")
      ? "version: STSv1\nmode: enforce\nmx: mx1.example.com\nmax_age: 86400\n"
      : "<svg/>";
    const contentType = "text/plain";
    return { kind: "answer", status: 200, contentType, body, isComplete: true } as const;
  };
  const { hints, recommendations } = await createReport(createZoneDns(GOOD), {
    ports: { fetchDocument },
  });

  expect(hints.map(({ id }) => id)).toEqual(["MTA_STS_BAD", "BIMI_LOGO_BAD"]);
  expect(hints[0]?.message).toContain("mx2.example.com");
  expect(recommendations.map(({ id }) => id)).toEqual(["mta_sts", "bimi_logo"]);
});

test("one check without time for a blocklist does not stop other checks from asking the list", async () => {
  const { now, sleep } = createVirtualTime(new Date(Date.UTC(2026, 10, 21)));
  const names = createZoneDns(GOOD);
  const slow: Dns = async (type, name) => {
    if (type === "MX") await sleep(7_700);
    if (name.endsWith(LIST)) await sleep(500);
    return names(type, name);
  };
  const blocklists = { lists: [createList(LIST)], keys: {}, isHealthy: createListHealth(now) };
  const first = await createReport(slow, { ports: { now, sleep }, blocklists });
  await sleep(1_000);

  const second = await createReport(names, { ports: { now, sleep }, blocklists });

  expect(first.reputation).toMatchObject({ skipped: 1, checked: 0 });
  expect(second.reputation).toMatchObject({ skipped: 0, checked: 1 });
});

describe("the cost of a check", () => {
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

  test("a check of a domain with keys sends at most 110 DNS queries, of which each blocklist gets one", async () => {
    const { all, lists } = await getQuestions("example.com", {
      "k1._domainkey.example.com": SELECTOR,
    });

    expect(lists).toBe(BLOCKLISTS.length);
    expect(all).toBeGreaterThan(80);
    expect(all).toBeLessThanOrEqual(110);
  });

  test("a check of a domain without names below _domainkey sends at most two thirds of these DNS queries", async () => {
    const withKeys = await getQuestions("example.com", { "k1._domainkey.example.com": SELECTOR });
    const without = await getQuestions("example.com", {});

    expect(without.all).toBeLessThanOrEqual(withKeys.all * 0.65);
  });

  test("a long name costs seven DNS queries more, and one for each foreign receiver of reports", async () => {
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

  test("a check ends in time, and mostly with a report, when half of the name servers are silent", async () => {
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
    "the check's confidence follows from the components %j and the sending address %s: %s",
    (parts, ip, confidence, missing) => {
      expect(answering(parts, ip)).toEqual({ confidence, missing });
    },
  );

  test("an additional answer never lowers the confidence", () => {
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
});
