import type { CheckReport } from "@mailproof/core/deliverability/analyse-domain";
import { discover } from "@mailproof/mail/dmarc/discover";
import { findTag, isDmarc, POLICIES, parseDmarc } from "@mailproof/mail/dmarc/record";
import type { ProposedRecord } from "@mailproof/mail/records/dns-record";
import { evaluateSpf } from "@mailproof/mail/spf/evaluate";
import { isSpf, parseSpf } from "@mailproof/mail/spf/parse";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createZoneDns, type Records, type Zone } from "../app/zone.ts";
import { LIST, whenChecked } from "../core/deliverability/findings.ts";
import { RSA_2048 } from "../things/dkim-keys.ts";

// Goal: a domain that publishes all finished records of a check gets at least the score that the check promised, and no
// source that passed SPF or DMARC fails afterwards. All advice about a name is one record, no SPF record loses a sender of
// its author, and a second check proposes nothing else.

const RUNS = { seed: 20261123, numRuns: 1_500 };
/** For a test that checks a zone again for each of its records. */
const FEWER_RUNS = { ...RUNS, numRuns: 500 };

const DOMAIN = "mail.example.com";
/** Every address that a term of these zones may name, and one that none does. */
const SOURCES = ["8.8.8.8", "8.8.4.4", "1.1.1.1", "9.9.9.9", "9.9.9.10", "2606:4700::1", "5.6.7.8"];

const PAGES = ["one.test", "two.test", "three.test", "four.test", "gone.test"];
const page = fc.constantFrom(...PAGES);
/** More than 255 characters. */
const MANY_BLOCKS = Array.from({ length: 30 }, (_, n) => `ip4:9.8.7.${n}`).join(" ");
const sign = fc.constantFrom("", "", "", "+", "-", "?", "~");
const named = fc.tuple(sign, page).map(([qualifier, name]) => `${qualifier}include:${name}`);
const term = fc.oneof(
  named,
  fc.constantFrom("mx", "a", "a:mx1.example.com", "a:gone.test", "a:none.test", "exists:gone.test"),
  fc
    .tuple(sign, fc.constantFrom("ip4:8.8.8.8", "ip4:9.9.9.0/28", "ip6:2606:4700::1"))
    .map((two) => two.join("")),
  fc.constantFrom("ptr", "include:%{i}.one.test", "ip4:8.0.0.0/6", `include:${DOMAIN}`),
  fc.constantFrom("exists:%{l}.gone.test", "include:many.test", "a:%{d}", "mx:gone.test"),
  fc.constantFrom("INCLUDE:one.test", "Ip4:8.8.8.8", "a:mx1.example.com/32", "mx/24//64", "a//128"),
  fc.constantFrom(
    "exists:%{ir}.%{v}.gone.test",
    "include:%{d}.gone.test",
    "?mx",
    "made-by=hand",
    MANY_BLOCKS,
  ),
);
const faulty = fc.constantFrom(
  "ipv4:9.9.9.9",
  "9.9.9.9",
  "a:9.9.9.9",
  "ip4:2606:4700::1",
  "ip4:9.9.9.9~all",
  "redirect:one.test",
  "include:",
  "hello",
  "ip4:1.2.3.4.5",
  "ip4:9.9.9.9\u00a0",
  "mx/33",
  "ip4:9.9.9.999",
  "ip6:2606:::1",
  "mx:gone..test",
  "exists:%{",
  "redirect=",
  "include:one.test,",
  "-include:",
);
const end = fc.constantFrom(
  "-all",
  "~all",
  "?all",
  "+all",
  "all",
  "redirect=one.test",
  "redirect=gone.test",
  "",
  "-all mx",
  "-all redirect=one.test",
  "exp=why.test -all",
  "-all;",
);
const spf = fc
  .tuple(
    fc.array(fc.oneof({ weight: 9, arbitrary: term }, { weight: 1, arbitrary: faulty }), {
      maxLength: 7,
    }),
    end,
  )
  .map(([terms, last]) => ["v=spf1", ...terms, last].filter((one) => one !== "").join(" "));

const policy = fc.constantFrom("none", "quarantine", "reject");
const tag = (name: string, ...values: readonly string[]) =>
  fc.constantFrom("", "", ...values.map((value) => `; ${name}=${value}`));
const dmarc = fc.oneof(
  fc
    .tuple(
      policy.map((p) => `v=DMARC1; p=${p}`),
      tag("sp", "none", "quarantine", "reject", "all"),
      tag("np", "none", "reject"),
      tag("t", "y", "n"),
      tag("pct", "20", "100"),
      tag("adkim", "s", "r", "strict"),
      tag("aspf", "s", "r"),
      tag(
        "rua",
        "mailto:d@example.com",
        "mailto:d@mail.example.com",
        "d@example.com",
        "mailto:d@reports.test!10m",
        "mailto:d@none.test,mailto:d@example.com",
      ),
      tag("ruf", "mailto:d@example.com", "nobody"),
      tag("fo", "1", "0:1", "x"),
    )
    .map((parts) => parts.join("")),
  fc.constantFrom(
    "v=dmarc1; p=reject; rua=mailto:d@example.com",
    " v=DMARC1; p=none",
    "v=DMARC1 p=none",
    "v=DMARC1; rua=mailto:d@example.com",
    "v=DMARC1; sp=reject; rua=mailto:d@example.com",
    "v=DMARC1; p=quarantine; t=y; pct=20; rf=afrf; ri=3600; rua=mailto:d@example.com",
    "v=DMARC1; p=none; p=reject",
    "v=DMARC1; p=rejct",
    "V=DMARC1 ; P=Reject ; RUA = mailto:d@example.com",
    "v=DMARC1;p=none;sp=;rua=mailto:d@example.com",
    "v=DMARC1; p=quarantine; pct=0; pct=100; rua=mailto:d@example.com",
    "v=DMARC1; p=reject; pct=abc; rua=mailto:d@example.com!10m, mailto:d@none.test; ruf=mailto:x@none.test",
    "v=spf1 -all",
    "hello",
  ),
);

const drawTexts = (
  one: fc.Arbitrary<string>,
  weights: readonly [none: number, one: number, two: number],
) =>
  fc.oneof(
    { weight: weights[0], arbitrary: fc.constant<readonly string[]>([]) },
    { weight: weights[1], arbitrary: one.map((text): readonly string[] => [text]) },
    { weight: weights[2], arbitrary: fc.tuple(one, one).map((two): readonly string[] => two) },
  );

const MX = fc.constantFrom<readonly string[]>(
  ["10 mx1.example.com", "20 mx2.example.com"],
  ["10 mx1.example.com"],
  ["0 ."],
  [],
  ["10 gone.test"],
);
const KEYS = fc.constantFrom<Zone>(
  {},
  { [`s1._domainkey.${DOMAIN}`]: { TXT: [`v=DKIM1; p=${RSA_2048}`] } },
  { [`s1._domainkey.${DOMAIN}`]: { TXT: [`v=DKIM1; t=y; p=${RSA_2048}`] } },
  { [`s1._domainkey.${DOMAIN}`]: { TXT: [`v=DKIM1; h=sha1; p=${RSA_2048}`] } },
  { [`s1._domainkey.${DOMAIN}`]: { TXT: [`v=DKIM1; h=sha1; t=y:s; p=${RSA_2048}`] } },
  { [`x._domainkey.${DOMAIN}`]: { TXT: [`v=DKIM1; p=${RSA_2048}`] } },
);

const at = (name: string, found: readonly string[], others: Records = {}): Zone =>
  found.length + Object.keys(others).length === 0 ? {} : { [name]: { ...others, TXT: found } };

const zones: fc.Arbitrary<Zone> = fc
  .record({
    mx: MX,
    spf: drawTexts(spf, [1, 6, 1]),
    pages: fc.tuple(...PAGES.slice(0, -1).map(() => drawTexts(spf, [1, 8, 1]))),
    own: drawTexts(dmarc, [2, 6, 2]),
    above: drawTexts(dmarc, [3, 2, 1]),
    apex: fc.constantFrom<readonly string[]>([], [], [], ["v=DMARC1; p=none"]),
    tlsRpt: drawTexts(
      fc.constantFrom("v=TLSRPTv1; rua=mailto:t@example.com", "v=TLSRPTv1; rua=t@example.com"),
      [2, 2, 1],
    ),
    sts: drawTexts(fc.constantFrom("v=STSv1; id=1;", "v=STSv1; id=a-b", "v=STSv1"), [2, 2, 1]),
    bimi: drawTexts(fc.constantFrom("v=BIMI1; l=;", "v=BIMI1; l=http://a.test/a.svg"), [2, 2, 1]),
    keys: KEYS,
    ptr: fc.constantFrom<readonly string[]>([], ["out.mail.example.com"], ["elsewhere.test"]),
  })
  .map(
    (drawn): Zone => ({
      ...at(DOMAIN, [...drawn.spf, ...drawn.apex], { MX: drawn.mx, NS: ["ns1.a", "ns2.b"] }),
      ...Object.fromEntries(
        PAGES.slice(0, -1).map((name, n) => [name, { TXT: drawn.pages[n] ?? [], A: ["1.1.1.1"] }]),
      ),
      ...at(`_dmarc.${DOMAIN}`, drawn.own),
      ...at("_dmarc.example.com", drawn.above),
      ...at(`_smtp._tls.${DOMAIN}`, drawn.tlsRpt),
      ...at(`_mta-sts.${DOMAIN}`, drawn.sts),
      ...at(`default._bimi.${DOMAIN}`, drawn.bimi),
      "many.test": { TXT: [`v=spf1 ${"a:one.test ".repeat(9)}-all`] },
      ...drawn.keys,
      "none.test": { TXT: ["hello"] },
      "why.test": { TXT: ["because"] },
      "example.com": { MX: ["10 mx1.example.com"] },
      "reports.test": { MX: ["10 mx1.example.com"] },
      "mx1.example.com": { A: ["8.8.4.4"] },
      "mx2.example.com": { AAAA: ["2606:4700::1"] },
      "8.8.8.8.in-addr.arpa": { PTR: drawn.ptr },
      "elsewhere.test": { A: ["1.1.1.1"] },
      [`2.0.0.127.${LIST}`]: { A: ["127.0.0.2"] },
    }),
  );

const getFinished = ({ recommendations }: CheckReport): readonly ProposedRecord[] => {
  const finished = recommendations
    .flatMap(({ proposal }) => proposal ?? [])
    .filter(({ open }) => open.length === 0);
  return [...new Map(finished.map((one) => [JSON.stringify(one.record), one])).values()];
};

/** The zone once these records are entered at the DNS provider. */
const publish = (zone: Zone, proposals: readonly ProposedRecord[]): Zone => {
  const after: Record<string, Records> = structuredClone(zone) as Record<string, Records>;
  const listOf = (name: string, type: "TXT" | "MX" | "A" | "PTR"): readonly string[] => {
    const found = after[name]?.[type];
    return typeof found === "object" ? found : [];
  };
  for (const { replaces } of proposals)
    for (const { name, type, value } of replaces)
      after[name] = { ...after[name], [type]: listOf(name, type).filter((text) => text !== value) };
  for (const {
    record: { name, type, value },
  } of proposals)
    after[name] = { ...after[name], [type]: [...listOf(name, type), value] };
  return after;
};

const whenSent = (zone: Zone, ip: string) =>
  evaluateSpf(createZoneDns(zone), { ip, domain: DOMAIN, sender: `ann@${DOMAIN}`, helo: DOMAIN });

/** Passes by a term that names it. What passes by +all alone is not a source of the domain. */
const passesByName = async (zone: Zone, ip: string): Promise<boolean> => {
  const { result, matched } = await whenSent(zone, ip);
  return result === "pass" && !/^\+?all$/i.test(matched.at(-1)?.term ?? "");
};

const isStrict = (found: Awaited<ReturnType<typeof discover>>["found"], name: string): boolean =>
  found !== null && findTag(found.record, name)?.toLowerCase() === "s";

/** Where a term of an author is found again: its name is corrected, and its argument stays. */
const getArgument = (term: string): string => {
  const [, argument = ""] = /^[^:=]*[:=]([\w%{}.:/-]+)/.exec(term) ?? [];
  // A redirect beside an all becomes an include.
  return (
    argument || term.replace(/^redirect=$/, "include").replaceAll(/[^\w.:/%{}]/g, "")
  ).toLowerCase();
};

const isSender = (term: string): boolean =>
  !/^(?:-|[+?~]?all\b|exp=)|[:=]$/i.test(term) && getArgument(term) !== "";

/** The senders of published SPF records that a proposed one neither has nor leaves a gap for. */
const findLostSenders = (published: readonly string[], value: string): readonly string[] =>
  published
    .flatMap((text) => text.split(" ").slice(1))
    .filter((term) => isSender(term) && !value.toLowerCase().includes(getArgument(term)));

const isOpenSpf = ({ record, open }: ProposedRecord): boolean =>
  open.length > 0 && isSpf(record.value);

const getTexts = (zone: Zone, name: string): readonly string[] => {
  const here = zone[name];
  return typeof here === "object" && typeof here.TXT === "object" ? here.TXT : [];
};

/** DMARC goes on by one step of its policy, and by nothing else. */
const withoutPolicy = (value: string): string =>
  isDmarc(value) ? value.replaceAll(/; (?:p|sp|np)=\w+/g, "") : value;

const listProposals = ({ recommendations }: CheckReport): readonly ProposedRecord[] =>
  recommendations.flatMap(({ proposal }) => proposal ?? []);

const toKey = ({ record: { name, type } }: ProposedRecord): string => `${type} ${name}`;

test("all advice about a name proposes one record, which a second check leaves unchanged", {
  timeout: 300_000,
}, async () => {
  let published = 0;
  await fc.assert(
    fc.asyncProperty(zones, fc.option(fc.constantFrom("8.8.8.8", "5.6.7.8")), async (zone, ip) => {
      const options = { domain: DOMAIN, ...(ip !== null && { sendingIp: ip }) };
      const before = await whenChecked(createZoneDns(zone), options);
      fc.pre(before.kind === "report");
      const byName = Map.groupBy(listProposals(before), toKey);
      for (const records of byName.values())
        expect(new Set(records.map(({ record }) => record.value)).size).toBe(1);

      for (const proposal of getFinished(before)) {
        if (proposal.record.type !== "TXT") continue;
        published++;
        const after = await whenChecked(createZoneDns(publish(zone, [proposal])), options);
        if (after.kind !== "report") throw new Error("nothing to report any more");
        for (const again of listProposals(after)) {
          if (toKey(again) !== toKey(proposal)) continue;
          expect(withoutPolicy(again.record.value)).toBe(withoutPolicy(proposal.record.value));
        }
      }
    }),
    FEWER_RUNS,
  );
  expect(published).toBeGreaterThan(FEWER_RUNS.numRuns);
});

test("a proposed SPF record contains every sender of its author, or a gap that promises no points", {
  timeout: 300_000,
}, async () => {
  const seen = { finished: 0, gaps: 0 };
  await fc.assert(
    fc.asyncProperty(zones, fc.option(fc.constantFrom("8.8.8.8", "5.6.7.8")), async (zone, ip) => {
      const options = { domain: DOMAIN, ...(ip !== null && { sendingIp: ip }) };
      const before = await whenChecked(createZoneDns(zone), options);
      fc.pre(before.kind === "report");
      const published = getTexts(zone, DOMAIN).filter(isSpf);
      const mailHosts = before.mx.records.filter(({ host }) => host !== ".");
      for (const { proposal, pointsRegained } of before.recommendations) {
        if (!proposal || !isSpf(proposal.record.value)) continue;
        const { value } = proposal.record;
        expect(findLostSenders(published, value)).toEqual([]);
        const isEmptied = mailHosts.length > 0 && /^v=spf1(?: [-+?~]?all)?$/.test(value);
        expect(isEmptied).toBe(false);
        if (!isOpenSpf(proposal)) {
          seen.finished++;
          continue;
        }
        seen.gaps++;
        expect(value).toMatch(/ ~all(?: [a-z-]+=\S+)*$/);
        expect([proposal.points, pointsRegained]).toEqual([null, 0]);
        // Published by mistake, it is noticed.
        expect(parseSpf(value).faults).not.toEqual([]);
      }
    }),
    RUNS,
  );
  expect(seen.finished).toBeGreaterThan(RUNS.numRuns / 4);
  expect(seen.gaps).toBeGreaterThan(RUNS.numRuns / 4);
});

test("the publication of all finished records reaches the promised score, and breaks no source that passed", {
  timeout: 300_000,
}, async () => {
  const seen = { better: 0, spf: 0, dmarc: 0, sources: 0 };
  await fc.assert(
    fc.asyncProperty(zones, fc.option(fc.constantFrom("8.8.8.8", "5.6.7.8")), async (zone, ip) => {
      const options = { domain: DOMAIN, ...(ip !== null && { sendingIp: ip }) };
      const before = await whenChecked(createZoneDns(zone), options);
      fc.pre(before.kind === "report");
      const finished = getFinished(before);
      const published = publish(zone, finished);
      const after = await whenChecked(createZoneDns(published), options);
      if (after.kind !== "report") throw new Error("nothing to report any more");

      const promised = before.afterRecords?.score ?? before.scored.score;
      expect(after.scored.score).toBeGreaterThanOrEqual(promised);
      expect(promised).toBeGreaterThanOrEqual(before.scored.score);
      if (before.afterRecords) seen.better++;

      const texts = finished.flatMap(({ record: { type, value } }) =>
        type === "TXT" ? [value] : [],
      );
      const [spfTexts, dmarcTexts] = [texts.filter(isSpf), texts.filter(isDmarc)];
      seen.spf += spfTexts.length;
      seen.dmarc += dmarcTexts.length;
      expect(spfTexts.flatMap((text) => parseSpf(text).faults)).toEqual([]);
      const parsed = dmarcTexts.map(parseDmarc);
      expect(parsed.flatMap(({ strays, repeatedTags }) => [...strays, ...repeatedTags])).toEqual(
        [],
      );

      for (const source of SOURCES) {
        if (!(await passesByName(zone, source))) continue;
        seen.sources++;
        expect(await whenSent(published, source)).toMatchObject({ result: "pass" });
      }

      const [then, now] = await Promise.all(
        [zone, published].map((one) => discover(createZoneDns(one), DOMAIN)),
      );
      if (!then?.found || !now) return;
      expect(now.organisation).toBe(then.organisation);
      for (const name of ["adkim", "aspf"])
        expect(isStrict(now.found, name) && !isStrict(then.found, name)).toBe(false);
      const steps = [before.dmarc.policy, after.dmarc.policy].map((one) =>
        POLICIES.indexOf(one ?? "none"),
      );
      expect((steps[1] ?? 0) - (steps[0] ?? 0)).toBeLessThanOrEqual(1);
    }),
    RUNS,
  );
  // Enough of everything, or this test shows nothing.
  expect(seen.better).toBeGreaterThan(RUNS.numRuns / 2);
  expect(seen.spf).toBeGreaterThan(RUNS.numRuns / 4);
  expect(seen.dmarc).toBeGreaterThan(RUNS.numRuns / 4);
  expect(seen.sources).toBeGreaterThan(RUNS.numRuns / 3);
});
