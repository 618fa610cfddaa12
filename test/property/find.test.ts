import type { PatternCounts } from "@mailproof/core/calibration/naming";
import { CANDIDATES_MAX, isUsable, listCandidates } from "@mailproof/core/find/candidates";
import { isAddress, parseAddress } from "@mailproof/mail/address";
import { isDomain, parseDomain } from "@mailproof/mail/domain";
import { createLists } from "@mailproof/mail/lists/lists";
import { PATTERN_NAMES } from "@mailproof/mail/signals/address-patterns";
import { measureEditDistance } from "@mailproof/mail/signals/edit-distance";
import { suggestTypo } from "@mailproof/mail/signals/typo";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PROVIDERS } from "../mail/signals/typo-lab.ts";

// Goal: whatever a person is called, the candidates are addresses, few, each once, the likeliest first.

const WORDS =
  "Ann van der Berg O'Brien Jean-Luc Müller Dr. Ångström García -- ' . 李明 Łukasz al-Hashimi J B. Дмитрий Ёж ь Щербаков Γιώργος Արմեն გიორგი राहुल क्ष ् 김 민준 ㅋ たろう っ ー 田中 佐藤 علي ไทย".split(
    " ",
  );
const name = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 64 }),
  fc.array(fc.constantFrom(...WORDS), { maxLength: 5 }).map((words) => words.join(" ")),
);
const naming: fc.Arbitrary<PatternCounts> = fc
  .array(fc.tuple(fc.constantFrom(...PATTERN_NAMES), fc.integer({ min: 1, max: 20 })), {
    maxLength: 4,
  })
  .map((counts) => new Map(counts));
const mailHost = fc.constantFrom(null, "mx.example.com", "eu.mimecast.com");

test("every guess is an address of plain letters, and no guess appears twice", () => {
  fc.assert(
    fc.property(name, name, naming, mailHost, (first, last, patternCounts, host) => {
      const knowledge = { patternCounts, mailHost: host };
      const candidates = listCandidates({ first, last }, "example.com", knowledge);
      const locals = candidates.map(({ local }) => local);
      const areAddresses = locals.every((local) => {
        const parsed = parseAddress(`${local}@example.com`);
        return isAddress(parsed) && /^[a-z]+(?:[._-][a-z]+)*$/.test(parsed.local);
      });
      expect(areAddresses).toBe(true);
      expect(new Set(locals).size).toBe(locals.length);
      expect(locals.length).toBeLessThanOrEqual(CANDIDATES_MAX);
    }),
  );
});

test("the likeliest guess comes first, and all guesses together are at most certain", () => {
  fc.assert(
    fc.property(name, name, naming, mailHost, (first, last, patternCounts, host) => {
      const knowledge = { patternCounts, mailHost: host };
      const shares = listCandidates({ first, last }, "example.com", knowledge).map(
        ({ share }) => share,
      );
      const isFalling = shares.every((share, at) => share <= (shares[at - 1] ?? 1) + 1e-9);
      expect(isFalling).toBe(true);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(1 + 1e-9);
    }),
  );
});

test("a name is usable exactly when a guess exists for the name", () => {
  fc.assert(
    fc.property(name, name, (first, last) => {
      const knowledge = { patternCounts: new Map() as PatternCounts, mailHost: null };
      const candidates = listCandidates({ first, last }, "example.com", knowledge);
      expect(isUsable({ first, last }, "example.com")).toBe(candidates.length > 0);
    }),
  );
});

const signals = fc.record({
  mailWorks: fc.constantFrom<boolean | "undecided">(true, false, "undecided"),
  squatOf: fc.constantFrom(null, null, "gmail.com", "t-online.de"),
});
const { rareEnding } = createLists();
const local = fc.string({ minLength: 1, maxLength: 64 });

/** Providers, providers with a stretch exchanged for anything, and anything at all. */
const domain = fc.oneof(
  fc.constantFrom(...PROVIDERS),
  fc
    .tuple(fc.constantFrom(...PROVIDERS), fc.nat(14), fc.nat(2), fc.string({ maxLength: 2 }))
    .map(([text, at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut)),
  fc.domain(),
  fc.string({ maxLength: 300 }),
  fc.string({ unit: "binary", maxLength: 300 }),
);

/** The name that stays where only the ending is corrected. */
const getFirst = (text: string): string => text.split(".", 1)[0] ?? "";

test("a suggestion keeps the person, leads to a provider or to the same name, and differs from the typed text", () => {
  fc.assert(
    fc.property(local, domain, signals, (ann, typed, distanceOrInfinity) => {
      const { suggestion, confidence } = suggestTypo(
        { local: ann, domain: typed },
        { ...distanceOrInfinity, hasRareEnding: rareEnding(typed) },
        PROVIDERS,
      );
      expect(suggestion === null).toBe(confidence === null);
      if (suggestion === null) return;

      const meant = suggestion.slice(ann.length + 1);
      expect(suggestion).toBe(`${ann}@${meant}`);
      expect(
        PROVIDERS.includes(meant) ||
          (!rareEnding(typed) && getFirst(meant) === getFirst(typed.toLowerCase())),
      ).toBe(true);
      expect(isDomain(parseDomain(meant))).toBe(true);
      expect(meant).not.toBe(typed.toLowerCase());
      expect(confidence).toBeGreaterThanOrEqual(0.5);
      expect(confidence).toBeLessThan(1);
    }),
    { numRuns: 2_000 },
  );
});

test("a suggestion stays empty while mail works or is undecided, except for a known squat", () => {
  fc.assert(
    fc.property(local, domain, signals, (ann, typed, distanceOrInfinity) => {
      fc.pre(distanceOrInfinity.mailWorks !== false && distanceOrInfinity.squatOf === null);

      expect(
        suggestTypo(
          { local: ann, domain: typed },
          { ...distanceOrInfinity, hasRareEnding: rareEnding(typed) },
          PROVIDERS,
        ).suggestion,
      ).toBeNull();
    }),
  );
});

/** The whole table, every edit at full price: what textbooks call the optimal string alignment distance. */
const plainDistance = (a: string, b: string): number => {
  const table = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number) => table[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const changed = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? at(i - 2, j - 2) + 1 : Infinity;
      table[i]?.splice(j, 1, Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed, swapped));
    }
  return at(a.length, b.length);
};

test("the weighted distance lies between three quarters and all of the plain one, up to two", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "s", "l", "m", "."), maxLength: 8 });
  fc.assert(
    fc.property(word, word, (typed, meant) => {
      const [weighted, plain] = [measureEditDistance(typed, meant), plainDistance(typed, meant)];

      const distanceOrInfinity = plain <= 2 ? plain : Infinity;
      expect(weighted).toBeLessThanOrEqual(distanceOrInfinity);
      expect(weighted).toBeGreaterThanOrEqual(0.75 * distanceOrInfinity);
      expect(weighted === 0).toBe(typed === meant);
    }),
    { numRuns: 5_000 },
  );
});

test("the suggestion refuses a domain of a million characters before it reads the domain closely", () => {
  const hostile = { local: "ann", domain: "gmail.com".repeat(120_000) };
  const distanceOrInfinity = { mailWorks: false, squatOf: "gmail.com", hasRareEnding: false };

  expect(suggestTypo(hostile, distanceOrInfinity, PROVIDERS).suggestion).toBeNull();
});
