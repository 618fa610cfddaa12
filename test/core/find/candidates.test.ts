import type { PatternCounts } from "@mailproof/core/calibration/naming";
import { CANDIDATES_MAX, listCandidates } from "@mailproof/core/find/candidates";
import {
  BASE_PATTERNS,
  buildLocal,
  NO_PATTERN,
  PATTERNS,
  type Pattern,
} from "@mailproof/mail/signals/address-patterns";
import { expect, test } from "vitest";

const ann = { first: "Ann", last: "Lee" };
const NOTHING = { patternCounts: new Map() as PatternCounts, mailHost: "mx.example.com" };
const createCounts = (...counts: readonly (readonly [Pattern, number])[]): PatternCounts =>
  new Map(counts);

const likeliest = (person: typeof ann, info: Partial<typeof NOTHING> = {}, count = 4) =>
  listCandidates(person, "example.com", { ...NOTHING, ...info })
    .slice(0, count)
    .map(({ local }) => local);

test.each<[Pattern, string]>([
  ["first.last", "ann.lee"],
  ["flast", "alee"],
  ["first", "ann"],
  ["f.last", "a.lee"],
  ["firstlast", "annlee"],
  ["first_last", "ann_lee"],
  ["last.first", "lee.ann"],
  ["firstl", "annl"],
  ["lastf", "leea"],
  ["last", "lee"],
  ["first-last", "ann-lee"],
  ["first.l", "ann.l"],
  ["first_l", "ann_l"],
  ["l.first", "l.ann"],
  ["fl", "al"],
  ["first.m.last", "ann.b.lee"],
  ["fmlast", "ablee"],
  ["f.m.last", "a.b.lee"],
  ["fml", "abl"],
])("the pattern %s builds %s", (pattern, local) => {
  expect(buildLocal(pattern, { first: "ann", f: "a", m: "b", last: "lee", l: "l" })).toBe(local);
});

test("the most common pattern comes first", () => {
  expect(likeliest(ann)).toEqual(["ann.lee", "alee", "ann", "lee"]);
});

test("the shares of the patterns, and of addresses without a pattern, add up to one", () => {
  const sum = BASE_PATTERNS.reduce((total, pattern) => total + PATTERNS[pattern], 0);

  expect(sum + NO_PATTERN).toBeCloseTo(1);
});

test.each([
  ["a middle initial", "Ann B.", "Lee"],
  ["a middle initial without a dot", "Ann B", "Lee"],
  ["an initial before the last name", "Ann", "B. Lee"],
])("the candidates include %s, and also the pattern without the initial", (_, first, last) => {
  const locals = likeliest({ first, last }, {}, CANDIDATES_MAX);

  expect(locals.slice(0, 2)).toEqual(["ann.b.lee", "ann.lee"]);
  expect(locals).toContain("ablee");
});

test("at a domain with first.m.last the candidates use a middle initial of the person, and omit a missing one", () => {
  const patternCounts = createCounts(["first.m.last", 2]);

  expect(likeliest({ first: "Ann B.", last: "Lee" }, { patternCounts }, 2)).toEqual([
    "ann.b.lee",
    "ann.lee",
  ]);
  expect(likeliest(ann, { patternCounts }, 1)).toEqual(["ann.lee"]);
});

test("a second given name adds an initial that is less likely in use", () => {
  const locals = likeliest({ first: "John Fitzgerald", last: "Doe" }, {}, CANDIDATES_MAX);

  expect(locals).toContain("john.f.doe");
  expect(locals.indexOf("jdoe")).toBeLessThan(locals.indexOf("john.f.doe"));
});

test("a person with a second given name as call name adds both initials", () => {
  const locals = likeliest({ first: "J. Robert", last: "Doe" }, {}, CANDIDATES_MAX);

  expect(locals[0]).toBe("robert.doe");
  expect(locals).toEqual(expect.arrayContaining(["jdoe", "rdoe", "jrdoe"]));
});

test("the candidates include a hyphenated name whole before its first letter, and as two letters", () => {
  const locals = likeliest({ first: "Jean-Luc", last: "Picard" }, {}, CANDIDATES_MAX);

  expect(locals[0]).toBe("jean-luc.picard");
  expect(locals).toEqual(expect.arrayContaining(["jpicard", "jlpicard", "jeanluc.picard"]));
});

test("the candidates include particles with an underscore", () => {
  const locals = likeliest({ first: "Jan", last: "van der Berg" }, {}, CANDIDATES_MAX);

  expect(locals[0]).toBe("jan.vanderberg");
  expect(locals).toContain("jan.van_der_berg");
});

test("the candidates include a long name cut, and list the cut form first at a domain that cuts names", () => {
  const person = { first: "Ann", last: "Featherstone" };

  expect(likeliest(person, {}, CANDIDATES_MAX)).toEqual(
    expect.arrayContaining(["afeathe", "afeather"]),
  );
  expect(likeliest(person, { patternCounts: createCounts(["flast6", 1]) }, 1)).toEqual(["afeathe"]);
  expect(likeliest(ann, { patternCounts: createCounts(["flast6", 1]) }, 1)).toEqual(["alee"]);
});

test.each([
  ["Дмитрий", "Шмидт", ["dmitry.shmidt", "dmitriy.shmidt"]],
  ["Володимир", "Шевченко", ["volodymyr.shevchenko"]],
  ["Γιώργος", "Παππάς", ["giorgos.pappas"]],
  ["Արմեն", "Պետրոսյան", ["armen.petrosyan"]],
  ["გიორგი", "ბერიძე", ["giorgi.beridze"]],
  ["राहुल", "शर्मा", ["rahul.sharma"]],
  ["민준", "김", ["minjun.kim", "mjkim"]],
  ["小明", "李", ["xiaoming.li"]],
  ["たろう", "すずき", ["taro.suzuki"]],
  ["太郎", "鈴木", ["taro.suzuki"]],
])("the candidates write %s %s in plain letters", (first, last, expected) => {
  const locals = likeliest({ first, last }, {}, CANDIDATES_MAX);

  expect(locals[0]).toBe(expected[0]);
  expect(locals).toEqual(expect.arrayContaining(expected));
});

test("the candidates list all spellings of a domain's pattern before another pattern", () => {
  const person = { first: "Дмитрий", last: "Иванов" };

  expect(likeliest(person, { patternCounts: createCounts(["last.first", 3]) }, 2)).toEqual([
    "ivanov.dmitry",
    "ivanov.dmitriy",
  ]);
});

test("one find at a domain puts its pattern before all others, and keeps the others' order", () => {
  const naming = createCounts(["last.first", 1]);

  expect(likeliest(ann, { patternCounts: naming })).toEqual(["lee.ann", "ann.lee", "alee", "ann"]);
});

test("the candidates include both patterns of a domain, the more common one first", () => {
  const naming = createCounts(["flast", 2], ["firstl", 5]);

  expect(likeliest(ann, { patternCounts: naming }, 2)).toEqual(["annl", "alee"]);
});

test("a bare given name ranks lower at a company with a mail gateway", () => {
  const mailHost = "eu-smtp-inbound-1.mimecast.com";

  expect(likeliest(ann, { mailHost }).indexOf("ann")).not.toBe(2);
  expect(likeliest(ann, { mailHost }, 3)).toEqual(["ann.lee", "alee", "annlee"]);
});

test("the candidates include both spellings of a name at the likeliest patterns", () => {
  expect(likeliest({ first: "Ann", last: "Müller" })).toEqual([
    "ann.muller",
    "ann.mueller",
    "amuller",
    "ann",
  ]);
});

test("the candidates include swapped names in both orders", () => {
  const locals = likeliest({ first: "Schmidt", last: "Hans" }, {}, CANDIDATES_MAX);

  expect(locals[0]).toBe("hans.schmidt");
  expect(locals).toContain("schmidt.hans");
});

test("the candidates list no address twice, and no local part that is too long", () => {
  const locals = likeliest({ first: "Lee", last: "Lee" }, {}, CANDIDATES_MAX);
  const long = likeliest({ first: "x".repeat(60), last: "y".repeat(60) }, {}, CANDIDATES_MAX);

  expect(new Set(locals).size).toBe(locals.length);
  expect(long.length).toBeGreaterThan(0);
  expect(long.every((local) => local.length <= 64)).toBe(true);
});

test("the candidates of the name with the most spellings stay within the maximum", () => {
  const hard = { first: "Jürgen-Søren Åsa", last: "van der Müller-Østergård" };

  expect(listCandidates(hard, "example.com", NOTHING)).toHaveLength(CANDIDATES_MAX);
});
