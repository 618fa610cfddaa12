import type { PatternCounts } from "@mailproof/core/calibration/naming";
import { CANDIDATES_MAX, isUsable, listCandidates } from "@mailproof/core/find/candidates";
import { isAddress, parseAddress } from "@mailproof/mail/address";
import { PATTERN_NAMES } from "@mailproof/mail/signals/address-patterns";
import fc from "fast-check";
import { expect, test } from "vitest";

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

test("every guess is an address of plain letters, and no guess comes twice", () => {
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

test("the likeliest comes first, and together they are no more than certain", () => {
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

test("a name is usable when there is something to guess, and only then", () => {
  fc.assert(
    fc.property(name, name, (first, last) => {
      const knowledge = { patternCounts: new Map() as PatternCounts, mailHost: null };
      const candidates = listCandidates({ first, last }, "example.com", knowledge);
      expect(isUsable({ first, last }, "example.com")).toBe(candidates.length > 0);
    }),
  );
});
