import { analyseSpf } from "@mailproof/mail/spf/analyse";
import { evaluateSpf } from "@mailproof/mail/spf/evaluate";
import { SPF_LIMITS } from "@mailproof/mail/spf/limits";
import { expand, parseMacroString } from "@mailproof/mail/spf/macro";
import { parseSpf } from "@mailproof/mail/spf/parse";
import { createSpfIssues, SPF_RULES, type SpfRule } from "@mailproof/mail/spf/rules";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../app/zone.ts";

const RUNS = { seed: 20261121, numRuns: 300 };

/** In no range of these zones, so it meets all of a policy. */
const UNKNOWN_IP = "198.51.100.7";
const NAMES = ["d0.test", "d1.test", "d2.test", "d3.test", "d4.test", "gone.test"];
const ROOT = "d0.test";

const name = fc.constantFrom(...NAMES);
const qualifier = fc.constantFrom("", "+", "-", "?", "~");
const target = fc.oneof(
  name.map((text) => `:${text}`),
  fc.constant(""),
);

const SOUND_TERMS = [
  fc.tuple(qualifier, name).map(([sign, text]) => `${sign}include:${text}`),
  fc.tuple(qualifier, fc.constantFrom("a", "mx"), target).map((parts) => parts.join("")),
  qualifier.map((sign) => `${sign}exists:gone.test`),
  qualifier.map((sign) => `${sign}ip4:192.0.2.0/24`),
  fc.constantFrom("-all", "~all", "?all", "ra=x", "exp=gone.test"),
] as const;
const soundTerm = fc.oneof(...SOUND_TERMS);
const faultyTerm = fc.constantFrom("moo", "ip4:1.2.3", "include:", "-all.", "a:192.0.2.1");
/** A broken "all" tells more than a missing one, and then the missing one is not reported. */
const faultThatIsNoEnd = faultyTerm.filter((term) => !term.includes("all"));
const redirect = name.map((text) => `redirect=${text}`);

const getRecord = (term: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.array(term, { maxLength: 5 }), fc.option(redirect, { freq: 2, nil: "" }))
    .map(([terms, last]) => ["v=spf1", ...terms, last].join(" "));

const createZone = (term: fc.Arbitrary<string>) => {
  const records = fc.record({
    TXT: fc.oneof(
      { weight: 6, arbitrary: fc.tuple(getRecord(term)) },
      { weight: 1, arbitrary: fc.constantFrom(["hello"], ["v=spf1", "v=spf1"]) },
    ),
    A: fc.constantFrom([], ["192.0.2.1"]),
    MX: fc.constantFrom([], ["10 d1.test", "20 gone.test"], Array(11).fill("10 d2.test")),
  });
  return fc
    .tuple(...NAMES.slice(0, -1).map((text) => records.map((at) => [text, at] as const)))
    .map((entries): Zone => Object.fromEntries(entries));
};

const PERMERRORS = new Set<string>([
  "SPF_MULTIPLE",
  "SPF_SYNTAX",
  "SPF_LOOKUPS_GT_10",
  "SPF_VOID_GT_2",
  "SPF_MX_GT_10",
  "SPF_INCLUDE_NONE",
  "SPF_DANGLING_INCLUDE",
  "SPF_REDIRECT_NONE",
  "SPF_LOOP",
]);

const whenBoth = async (names: Zone) => {
  const query = { ip: UNKNOWN_IP, domain: ROOT, sender: `ann@${ROOT}`, helo: ROOT };
  const evaluation = await evaluateSpf(createZoneDns(names), query);
  const analysis = await analyseSpf(createZoneDns(names), { domain: ROOT });
  return { evaluation, analysis, ids: analysis.issues.map(({ id }) => id) };
};

test("an address that meets a whole policy gets permerror exactly when the analysis found a reason", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      createZone(
        fc.oneof({ weight: 30, arbitrary: soundTerm }, { weight: 1, arbitrary: faultyTerm }),
      ),
      async (names) => {
        const { evaluation, ids } = await whenBoth(names);
        const reasons = ids.filter((id) => PERMERRORS.has(id));
        for (const reason of reasons) seen.add(reason);

        expect([evaluation.result === "permerror", reasons]).toEqual([reasons.length > 0, reasons]);
        expect(evaluation.result).not.toBe("temperror");
      },
    ),
    RUNS,
  );
  expect(seen).toEqual(PERMERRORS);
});

test("the evaluation and the analysis count the same look-ups and reach the same end without an error", async () => {
  const END = { fail: [], softfail: ["SPF_SOFTFAIL"], neutral: ["SPF_NEUTRAL_ALL"] };
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(createZone(soundTerm), async (names) => {
      const { evaluation, analysis, ids } = await whenBoth(names);
      const { result, lookups, voidLookups } = evaluation;
      if (result === "permerror" || result === "none") return;
      compared += 1;

      expect(analysis).toMatchObject({ lookups, voidLookups });
      expect(ids.filter((id) => id === "SPF_SOFTFAIL" || id === "SPF_NEUTRAL_ALL")).toEqual(
        END[result as keyof typeof END],
      );
    }),
    RUNS,
  );
  expect(compared).toBeGreaterThan(100);
});

test("the evaluation of any zone counts and sends at most its budget of look-ups", async () => {
  await fc.assert(
    fc.asyncProperty(createZone(soundTerm), async (names) => {
      const [forOne, forAll] = [createZoneDns(names), createZoneDns(names)];
      const query = { ip: UNKNOWN_IP, domain: ROOT, sender: "", helo: ROOT };

      const { lookups, voidLookups } = await evaluateSpf(forOne, query);
      await analyseSpf(forAll, { domain: ROOT, sendingIp: UNKNOWN_IP });

      // The one that was too many is counted.
      expect(lookups).toBeLessThanOrEqual(SPF_LIMITS.termsMax + 1);
      expect(voidLookups).toBeLessThanOrEqual(SPF_LIMITS.voidsMax + 1);
      expect(forOne.calls.length).toBeLessThanOrEqual(SPF_LIMITS.questionsMax);
      expect(forAll.calls.length).toBeLessThanOrEqual(40);
    }),
    RUNS,
  );
});

test("the score is absent exactly when the check queries a failing name", async () => {
  await fc.assert(
    fc.asyncProperty(
      createZone(soundTerm),
      fc.constantFrom(...NAMES),
      fc.constantFrom("SERVFAIL", "REFUSED", "TIMEOUT"),
      async (names, where, trouble) => {
        const dns = createZoneDns({ ...names, [where]: trouble });

        const { score, status } = await analyseSpf(dns, { domain: ROOT });

        const wasMet = dns.calls.some((call) => call.endsWith(` ${where}`));
        expect([score === null, status === "error"]).toEqual([wasMet, wasMet]);
      },
    ),
    RUNS,
  );
});

test("an additional fault never raises the score", async () => {
  await fc.assert(
    fc.asyncProperty(createZone(soundTerm), faultThatIsNoEnd, async (names, fault) => {
      const { TXT = [] } = names[ROOT] as { TXT?: readonly string[] };
      const worse = {
        ...names,
        [ROOT]: { ...(names[ROOT] as object), TXT: TXT.map((text) => `${text} ${fault}`) },
      };

      const before = await analyseSpf(createZoneDns(names), { domain: ROOT });
      const after = await analyseSpf(createZoneDns(worse as Zone), { domain: ROOT });

      expect(after.score).toBeLessThanOrEqual(before.score ?? 100);
    }),
    RUNS,
  );
});

test("an additional issue never costs less, and one rule never costs twice", () => {
  const finding = fc
    .constantFrom(...(Object.keys(SPF_RULES) as SpfRule[]))
    .map((rule) => ({ rule, detail: {} }));
  const getCost = (findings: readonly { rule: SpfRule; detail: object }[]) =>
    createSpfIssues(findings as Parameters<typeof createSpfIssues>[0]).reduce(
      (sum, { costPoints }) => sum + costPoints,
      0,
    );

  fc.assert(
    fc.property(fc.array(finding), finding, (findings, another) => {
      expect(getCost([...findings, another])).toBeGreaterThanOrEqual(getCost(findings));
      expect(getCost([...findings, ...findings])).toBe(getCost(findings));
    }),
    RUNS,
  );
});

/** Pieces of records in any order, and anything at all. */
const wild = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        "v=spf1",
        " ",
        "  ",
        "include:",
        "redirect=",
        "a",
        "mx",
        "ptr",
        "ip4:",
        "ip6:",
        "exists:",
        "all",
        "-",
        "~",
        "/",
        "//",
        ":",
        "=",
        ".",
        "%{",
        "}",
        "%%",
        "%_",
        "%",
        "d2r",
        "i",
        "l1r-",
        "192.0.2.1",
        "::1",
        "24",
        "999",
        "d1.test",
        "exp=",
        "\t",
        "\0",
        "é",
        "[",
        "p",
      ),
      { maxLength: 40 },
    )
    .map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", maxLength: 200 }),
);

test("the analysis judges any text as a record, and never throws", async () => {
  await fc.assert(
    fc.asyncProperty(wild, wild, wild, async (text, helo, sender) => {
      const dns = createZoneDns({
        [ROOT]: { TXT: [`v=spf1 ${text}`], A: [text], MX: [`1 ${text}`] },
      });

      const { faults } = parseSpf(`v=spf1 ${text}`);
      const { result } = await evaluateSpf(dns, { ip: UNKNOWN_IP, domain: ROOT, sender, helo });
      const { score } = await analyseSpf(dns, { domain: ROOT, sendingIp: UNKNOWN_IP });

      expect(result === "permerror").toBe(faults.length > 0 || result === "permerror");
      expect(score).toSatisfy(
        (points) => points === null || (Number.isInteger(points) && points >= 0 && points <= 100),
      );
    }),
    RUNS,
  );
});

test("a text without a macro expands to itself", () => {
  const values = { s: "", l: "", o: "", d: "", i: "", p: "", h: "", v: "", c: "", r: "", t: "" };
  const plain = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  });

  fc.assert(
    fc.property(plain, (text) => {
      const pieces = parseMacroString(text.replaceAll("%", "%%"), "explanation");

      expect(pieces && expand(pieces, values)).toBe(text);
    }),
    RUNS,
  );
});

test.each([
  ["slashes", "a:" + "/".repeat(60_000)],
  ["digits after a slash", `a/${"1".repeat(60_000)}x`],
  ["slashes and digits", `a${"/1".repeat(30_000)}x`],
  ["digits as the last label", `a:x.${"1".repeat(60_000)}`],
  ["hyphens in the last label", `a:x.a${"-".repeat(60_000)}`],
  ["dots", `a:${".a".repeat(30_000)}..`],
  ["percent signs", `exists:${"%%".repeat(30_000)}%`],
  ["an open macro", `exists:%{${"d".repeat(60_000)}`],
  ["delimiters", `exists:%{d${".-+,/_=".repeat(8_000)}}x`],
  ["a long name of a modifier", `${"a".repeat(60_000)}:`],
  ["signs before all", `${"-a".repeat(30_000)}~all`],
  ["colons", `ip6:${":".repeat(60_000)}`],
])("the parser reads a term of sixty thousand bytes once: %s", (_, term) => {
  expect(parseSpf(`v=spf1 ${term}`).faults).toHaveLength(1);
});
