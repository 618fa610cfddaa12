import type { CheckReport } from "@mailproof/core/deliverability/analyse-domain";
import {
  COMPONENTS,
  type Findings,
  listIssues,
  removeIssues,
} from "@mailproof/core/deliverability/findings";
import { recommend } from "@mailproof/core/deliverability/recommend";
import { scoreFindings } from "@mailproof/core/deliverability/score";
import { assessSpam } from "@mailproof/core/deliverability/spam-assessment";
import { analyseBlocklists } from "@mailproof/mail/blocklists/analyse";
import { BLOCKLISTS, createList } from "@mailproof/mail/blocklists/lists";
import type { Dns, DnsOutcome } from "@mailproof/mail/dns/dns";
import { toGrade } from "@mailproof/mail/grade";
import type { Issue } from "@mailproof/mail/issue";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createZoneDns, type Records, type Zone } from "../app/zone.ts";
import { EVERY_ISSUE, LIST, whenChecked } from "../core/deliverability/findings.ts";
import { asRows } from "../runner/as-rows.ts";
import { RSA_1024, RSA_2048 } from "../things/dkim-keys.ts";

const RUNS = { seed: 20261121, numRuns: 300 };

const some = (issues: readonly Issue[]) =>
  fc.option(
    fc.uniqueArray(fc.constantFrom(...issues), { selector: ({ id }) => id, maxLength: 4 }),
    {
      freq: 6,
    },
  );

/** Any findings at all: whatever can be wrong, together with anything else. */
const findings: fc.Arbitrary<Findings> = fc.record({
  dns: some(EVERY_ISSUE.dns),
  spf: some(EVERY_ISSUE.spf),
  dkim: some(EVERY_ISSUE.dkim),
  dmarc: some(EVERY_ISSUE.dmarc),
  reputation: some(EVERY_ISSUE.reputation),
  ptr: some(EVERY_ISSUE.ptr),
});

const getScore = (of: Findings) => scoreFindings(of)?.score ?? null;

test("the repair of any issue never lowers the score, and never worsens the spam assessment", () => {
  fc.assert(
    fc.property(findings, fc.nat(), (before, pick) => {
      const issues = listIssues(before);
      fc.pre(issues.length > 0);
      const mended = issues[pick % issues.length];
      const after = removeIssues(before, (one) => one === mended);

      expect(getScore(after) ?? 0).toBeGreaterThanOrEqual(getScore(before) ?? 0);
      expect(assessSpam(after).score).toBeLessThanOrEqual(assessSpam(before).score);
    }),
    RUNS,
  );
});

test("an additional listing never raises the score", () => {
  fc.assert(
    fc.property(findings, fc.constantFrom(...EVERY_ISSUE.reputation), (before, listing) => {
      fc.pre(before.reputation !== null);
      const after = { ...before, reputation: [...(before.reputation ?? []), listing] };

      expect(getScore(after) ?? 0).toBeLessThanOrEqual(getScore(before) ?? 0);
      expect(assessSpam(after).score).toBeGreaterThanOrEqual(assessSpam(before).score);
    }),
    RUNS,
  );
});

test("the score and the spam assessment are whole numbers from 0 to 100", () => {
  const wholes = Array.from({ length: 101 }, (_, n) => n);

  fc.assert(
    fc.property(findings, (of) => {
      expect([null, ...wholes]).toContain(getScore(of));
      expect(wholes).toContain(assessSpam(of).score);
    }),
    RUNS,
  );
});

test("a higher score never receives a worse grade", () => {
  const grades = Array.from({ length: 101 }, (_, score) => toGrade(score));

  expect(grades.join("")).toMatch(/^F+D+C+B+A+$/);
});

test("recommend lists each advice once, by points regained, and each regains its stated points", () => {
  fc.assert(
    fc.property(findings, (of) => {
      const advised = recommend(of, []);
      const regained = advised.map(({ pointsRegained }) => pointsRegained);

      expect(new Set(advised.map(({ id }) => id)).size).toBe(advised.length);
      expect(regained).toEqual(regained.toSorted((a, b) => b - a));
      for (const { issues, pointsRegained } of advised)
        expect(getScore(removeIssues(of, ({ id }) => issues.includes(id))) ?? 0).toBe(
          (getScore(of) ?? 0) + pointsRegained,
        );
    }),
    RUNS,
  );
});

/** What may stand at a name: nothing, or one of these. */
const at = (name: string, ...choices: readonly Records[]): fc.Arbitrary<Zone> =>
  fc.oneof(
    fc.constant<Zone>({}),
    ...choices.map((records) => fc.constant<Zone>({ [name]: records })),
  );

const txt = (...TXT: string[]): Records => ({ TXT });
const key = (p: string, tags = "") => txt(`v=DKIM1; ${tags}p=${p}`);

const MX = ["10 mx1.example.com", "20 mx2.example.com"];
const APEX: readonly Records[] = [
  { MX, TXT: ["v=spf1 mx -all"] },
  { MX, TXT: ["v=spf1 include:sendgrid.net ~all"], NS: ["ns.example.net"] },
  { MX: ["0 ."], TXT: ["v=spf1 -all"] },
  { MX: ["0 .", ...MX], TXT: ["v=DMARC1; p=none"] },
  { A: ["8.8.8.8"], TXT: ["v=spf1 +all", "v=spf1 -all"] },
  { MX: ["10 8.8.8.8", "10 localhost", ...MX] },
];
const HOST: readonly Records[] = [
  { A: ["8.8.4.4"] },
  { A: ["10.0.0.1"], AAAA: ["2606:4700::1"] },
  { AAAA: ["fe80::1"] },
  { CNAME: ["host.example.net"] },
];

const DOMAIN = "mail.example.com";
const IP = "8.8.8.10";
const POLICIES = [
  "v=DMARC1; p=reject; sp=none; np=quarantine; rua=mailto:d@example.com",
  "v=DMARC1; p=none; t=y; pct=20; rua=mailto:d@reports.test,d@example.com",
  "v=DMARC1; p=quarantine; psd=n",
  "v=DMARC1; rua=mailto:d@reports.test",
  "v=dmarc1; p=reject",
].map((text) => txt(text));

/** A domain that was set up well or badly: every question of a check has something to find or to miss. */
const zones: fc.Arbitrary<Zone> = fc
  .tuple(
    at(DOMAIN, ...APEX),
    at("mx1.example.com", ...HOST),
    at("mx2.example.com", ...HOST),
    at("host.example.net", { A: ["1.1.1.1"] }),
    at("example.com", { MX, A: ["8.8.8.8"] }),
    at("reports.test", { MX }),
    at("sendgrid.net", txt(`v=spf1 ip4:${IP} -all`), txt("v=spf1 exists:%{i}.example.com ?all")),
    at(`_dmarc.${DOMAIN}`, ...POLICIES, txt("v=DMARC1; p=none", "v=DMARC1; p=reject")),
    at("_dmarc.example.com", ...POLICIES),
    at("_dmarc.com", txt("v=DMARC1; p=reject; psd=y")),
    at(`${DOMAIN}._report._dmarc.reports.test`, txt("v=DMARC1")),
    at(`r4nd0m._domainkey.${DOMAIN}`, key("")),
    at(`s1._domainkey.${DOMAIN}`, key(RSA_2048), key(RSA_1024, "t=y; "), key(""), {
      CNAME: ["s1.example.net"],
    }),
    at(`default._domainkey.${DOMAIN}`, key(RSA_1024), key(""), key("!")),
    at(
      "10.8.8.8.in-addr.arpa",
      { PTR: ["a.example.com"] },
      { PTR: ["pool-1.test", "a.example.com"] },
    ),
    at("a.example.com", { A: [IP] }, { A: ["8.8.8.11"] }),
    at("pool-1.test", { A: [IP] }),
    at(`8.8.8.8.${LIST}`, { A: ["127.0.0.2"] }),
    at(`4.4.8.8.${LIST}`, { A: ["127.0.0.2"] }),
    at(`10.8.8.8.${LIST}`, { A: ["127.0.0.2"] }, { A: ["127.255.255.254"] }),
  )
  .map((parts) => Object.assign({ [`2.0.0.127.${LIST}`]: { A: ["127.0.0.2"] } }, ...parts));

const check = (dns: Dns, sendingIp?: string) => whenChecked(dns, { domain: DOMAIN, sendingIp });

const getParts = (report: CheckReport) =>
  new Map(report.scored.parts.map(({ component, score }) => [component, score]));

test("an unanswered query never lowers a component's score", async () => {
  await fc.assert(
    fc.asyncProperty(
      zones,
      fc.option(fc.constant(IP), { nil: undefined }),
      // A third of all questions, or one in twenty: some faults show only where the rest was answered.
      fc.constantFrom(8, 60).chain((max) => fc.infiniteStream(fc.nat({ max }))),
      async (names, sendingIp, luck) => {
        const dns = createZoneDns(names);
        const fullReport = await check(dns, sendingIp);
        const troubles = ["timeout", "servfail", "refused"] as const;
        const partly: Dns = async (type, name) => {
          const trouble = troubles[luck.next().value ?? 8];
          return trouble === undefined ? dns(type, name) : { kind: trouble };
        };
        const part = await check(partly, sendingIp);

        if (fullReport.kind !== "report" || part.kind !== "report") return;
        const scores = getParts(fullReport);
        const worse = [...getParts(part)].filter(
          ([component, score]) => score < (scores.get(component) ?? 0),
        );
        expect(worse).toEqual([]);
      },
    ),
    { ...RUNS, numRuns: 120 },
  );
});

test("a check returns the same report for any order of DNS answers", async () => {
  await fc.assert(
    fc.asyncProperty(zones, fc.infiniteStream(fc.nat({ max: 3 })), async (names, luck) => {
      const dns = createZoneDns(names);
      const late: Dns = async (type, name) => {
        for (let turns = luck.next().value ?? 0; turns > 0; turns -= 1)
          await new Promise((resolve) => setImmediate(resolve));
        return dns(type, name);
      };
      const [one, other] = [await check(dns, IP), await check(late, IP)];

      expect({ ...other, dnsQueries: [] }).toEqual({ ...one, dnsQueries: [] });
    }),
    { ...RUNS, numRuns: 40 },
  );
});

/** The same answers, the records of each in another order. */
const shuffleRecords =
  (dns: Dns, turns: Iterator<number>): Dns =>
  async (type, name) => {
    const outcome = await dns(type, name);
    if (outcome.kind !== "ok") return outcome;
    const at = (turns.next().value ?? 0) % outcome.records.length;
    return { kind: "ok", records: [...outcome.records.slice(at), ...outcome.records.slice(0, at)] };
  };

/** A query that waits for one answer may go out before or after one that waits for another. */
const inAnyOrder = (report: Awaited<ReturnType<typeof check>>) =>
  report.kind === "report"
    ? { ...report, dnsQueries: new Set(report.dnsQueries.map((one) => JSON.stringify(one))) }
    : report;

test("a check returns the same report for any order of the records in an answer", async () => {
  const twoAddresses = { A: ["8.8.8.8", "8.8.4.4", "1.1.1.1"] };
  const twoKeys = txt(`v=DKIM1; p=${RSA_2048}`, `v=DKIM1; p=${RSA_1024}`, "v=DKIM1; p=");
  const wide = at("mx1.example.com", twoAddresses).chain((more) =>
    at(`s1._domainkey.${DOMAIN}`, twoKeys).map((key) => ({ ...more, ...key })),
  );
  await fc.assert(
    fc.asyncProperty(zones, wide, fc.infiniteStream(fc.nat()), async (names, more, turns) => {
      const dns = createZoneDns({ ...names, ...more });

      expect(inAnyOrder(await check(shuffleRecords(dns, turns)))).toEqual(
        inAnyOrder(await check(dns)),
      );
    }),
    { ...RUNS, numRuns: 60 },
  );
});

/** A component, and the questions that it alone asks. */
const QUESTIONS = [
  ["dkim", /_domainkey\./],
  ["reputation", new RegExp(`${LIST}$`)],
  ["ptr", /in-addr\.arpa$|^a\.example\.com$|^pool-1\.test$/],
] as const;

test("an unanswered query of one component changes no other component", async () => {
  await fc.assert(
    fc.asyncProperty(
      zones,
      fc.constantFrom(...QUESTIONS),
      fc.constantFrom("timeout", "servfail", "refused"),
      async (names, [silent, questions], kind) => {
        const dns = createZoneDns(names);
        const without: Dns = async (type, name) =>
          questions.test(name) ? { kind } : dns(type, name);
        const [fullReport, part] = [await check(dns, IP), await check(without, IP)];

        if (fullReport.kind !== "report" || part.kind !== "report") return;
        const omitSilent = (report: CheckReport) => {
          const { mx, spf, dkim, dmarc, reputation, reverseDns: ptr } = report;
          return { mx, spf, dkim, dmarc, reputation, ptr, [silent]: null };
        };
        expect(omitSilent(part)).toEqual(omitSilent(fullReport));
      },
    ),
    { ...RUNS, numRuns: 90 },
  );
});

/** What the owner of the domain can do in DNS that puts one thing right, whatever it was. */
const MENDS: readonly (readonly [what: string, mended: Zone])[] = asRows`
  DMARC | ${{ [`_dmarc.${DOMAIN}`]: txt("v=DMARC1; p=reject; np=reject; rua=mailto:d@mail.example.com") }}
  DKIM | ${{ [`s1._domainkey.${DOMAIN}`]: key(RSA_2048), [`default._domainkey.${DOMAIN}`]: key(RSA_2048) }}
  the domain and its mail hosts
    | ${{ [DOMAIN]: { MX, TXT: [`v=spf1 ip4:${IP} -all`], NS: ["ns1.example.net", "ns2.example.net"] }, "mx1.example.com": { A: ["8.8.4.4"] }, "mx2.example.com": { A: ["8.8.8.8"] } }}
  the mail hosts | ${{ "mx1.example.com": { A: ["8.8.4.4"] }, "mx2.example.com": { A: ["8.8.4.4"] } }}
  the address' name | ${{ "10.8.8.8.in-addr.arpa": { PTR: ["a.example.com"] }, "a.example.com": { A: [IP] } }}
  the listing | ${{ [`10.8.8.8.${LIST}`]: {} }}
`;

test("a repair in DNS never lowers the score", async () => {
  let raised = 0;
  await fc.assert(
    fc.asyncProperty(zones, fc.constantFrom(...MENDS), async (names, [what, mended]) => {
      const before = await check(createZoneDns(names), IP);
      const after = await check(createZoneDns({ ...names, ...mended }), IP);
      if (before.kind !== "report" || after.kind !== "report") return;
      if (after.scored.score > before.scored.score) raised += 1;

      expect(after.scored.score, `${what}`).toBeGreaterThanOrEqual(before.scored.score);
    }),
    { ...RUNS, numRuns: 150 },
  );
  expect(raised).toBeGreaterThan(30);
});

test("a listing in DNS never raises the score", async () => {
  await fc.assert(
    fc.asyncProperty(zones, async (names) => {
      const before = await check(createZoneDns(names), IP);
      const listed = { [`10.8.8.8.${LIST}`]: { A: ["127.0.0.2"] } };
      const after = await check(createZoneDns({ ...names, ...listed }), IP);
      if (before.kind !== "report" || after.kind !== "report") return;
      // A list that gave no verdict before had no part in the score.
      fc.pre(before.reputation.score !== null);

      expect(after.scored.score).toBeLessThanOrEqual(before.scored.score);
    }),
    { ...RUNS, numRuns: 60 },
  );
});

test("the counters of blocklists add up for any answers of the lists", async () => {
  const octet = fc.constantFrom(0, 1, 2, 3, 4, 8, 10, 13, 64, 254, 255);
  const address = fc
    .tuple(fc.constantFrom(127, 10), octet, octet, octet)
    .map((octets) => octets.join("."));
  const outcome: fc.Arbitrary<DnsOutcome<string>> = fc.oneof(
    fc
      .constantFrom("nodata", "nxdomain", "servfail", "refused", "timeout")
      .map((kind) => ({ kind })),
    fc
      .array(address, { minLength: 1, maxLength: 3 })
      .map((records) => ({ kind: "ok" as const, records })),
  );

  await fc.assert(
    fc.asyncProperty(
      fc.infiniteStream(outcome),
      fc.option(fc.constant(IP)),
      fc.subarray(["spamhaus", "barracuda"]),
      async (outcomes, ip, ownersOfKeys) => {
        const dns = (async () => outcomes.next().value ?? { kind: "timeout" }) as Dns;
        const lists = [...BLOCKLISTS, createList(LIST)];
        const keys = Object.fromEntries(ownersOfKeys.map((name) => [name, "k3y"]));
        const isHealthy = async () => (await dns("A", "")).kind !== "timeout";
        const found = await analyseBlocklists(dns, { domain: DOMAIN, ip, lists, keys, isHealthy });

        expect(found.checked + found.inconclusive + found.skipped).toBe(found.total);
        expect(found.total).toBe(lists.length);
        expect(found.listed).toBeLessThanOrEqual(found.checked);
        expect(found.listedOn).toHaveLength(found.listed);
        expect(found.score === null).toBe(found.checked === 0);
      },
    ),
    RUNS,
  );
});

test("every component of a score is a known component", () => {
  expect(Object.keys(EVERY_ISSUE)).toEqual([...COMPONENTS]);
});
