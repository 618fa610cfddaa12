import { CANDIDATES_MAX, isUsualPattern, listCandidates } from "@mailproof/core/find/candidates";
import type { PatternCounts } from "@mailproof/core/find/items";
import { buildLocal, PATTERN_NAMES, PATTERNS, type Pattern } from "@mailproof/core/find/patterns";
import { expect, test } from "vitest";

const ann = { first: "Ann", last: "Lee" };
const NOTHING = { patternCounts: new Map() as PatternCounts, mailHost: "mx.example.com" };
const seen = (...counts: readonly (readonly [Pattern, number])[]): PatternCounts => new Map(counts);

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
])("the pattern %s makes %s", (pattern, local) => {
  expect(buildLocal(pattern, "ann", "lee")).toBe(local);
});

test("what companies do most comes first", () => {
  expect(likeliest(ann)).toEqual(["ann.lee", "alee", "ann", "a.lee"]);
});

test("the shares of the patterns are all there is", () => {
  expect(PATTERN_NAMES.reduce((sum, pattern) => sum + PATTERNS[pattern], 0)).toBeCloseTo(1);
});

test("one find at a domain puts its pattern before all others, and leaves these their order", () => {
  const naming = seen(["last.first", 1]);

  expect(likeliest(ann, { patternCounts: naming })).toEqual(["lee.ann", "ann.lee", "alee", "ann"]);
});

test("a domain with two habits is asked about both, the commoner first", () => {
  const naming = seen(["flast", 2], ["firstl", 5]);

  expect(likeliest(ann, { patternCounts: naming }, 2)).toEqual(["annl", "alee"]);
});

test("a company large enough for a gateway has more than one Ann", () => {
  const mailHost = "eu-smtp-inbound-1.mimecast.com";

  expect(likeliest(ann, { mailHost }).indexOf("ann")).not.toBe(2);
  expect(likeliest(ann, { mailHost }, 3)).toEqual(["ann.lee", "alee", "a.lee"]);
});

test("a name with two spellings is tried in both, at the likeliest patterns", () => {
  expect(likeliest({ first: "Ann", last: "Müller" })).toEqual([
    "ann.muller",
    "ann.mueller",
    "amuller",
    "ann",
  ]);
});

test("names that stand in each other's place are turned, and tried as they stand, too", () => {
  const locals = likeliest({ first: "Schmidt", last: "Hans" }, {}, CANDIDATES_MAX);

  expect(locals[0]).toBe("hans.schmidt");
  expect(locals).toContain("schmidt.hans");
});

test("no address comes twice, and none is too long for a local part", () => {
  const locals = likeliest({ first: "Lee", last: "Lee" }, {}, CANDIDATES_MAX);
  const long = likeliest({ first: "x".repeat(60), last: "y".repeat(60) }, {}, CANDIDATES_MAX);

  expect(new Set(locals).size).toBe(locals.length);
  expect(long.length).toBeGreaterThan(0);
  expect(long.every((local) => local.length <= 64)).toBe(true);
});

test("the hardest name comes to no more than the most that are asked about", () => {
  const hard = { first: "Jürgen-Søren Åsa", last: "van der Müller-Østergård" };

  expect(listCandidates(hard, "example.com", NOTHING)).toHaveLength(CANDIDATES_MAX);
});

test.each<[string, PatternCounts, Pattern, boolean]>([
  ["nothing seen", seen(), "first", false],
  ["seen once", seen(["first", 1]), "first", false],
  ["seen twice", seen(["first", 2]), "first", true],
  ["seen less often than another", seen(["first", 2], ["flast", 3]), "first", false],
])("%s: a habit is %s", (_, naming, pattern, habit) => {
  expect(isUsualPattern(naming, pattern)).toBe(habit);
});
