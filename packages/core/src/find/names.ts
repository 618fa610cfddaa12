import { FAMILY_NAMES, GIVEN_NAMES } from "../verify/name-words.ts";
import { PARTICLES } from "../verify/names.ts";
import { type Habit, inPlainLetters } from "./letters.ts";

export type Person = { readonly first: string; readonly last: string };

/** One way in which a name may stand in a local part, and how likely it is: the ways of one name add up to 1. */
export type Form = { readonly text: string; readonly weight: number };

export type PersonForms = { readonly first: readonly Form[]; readonly last: readonly Form[] };

/** Every way in which this person's names may be written, or null when one of them has no letters that could be. */
export const formsOf = ({ first, last }: Person, domain: string): PersonForms | null => {
  const forms = { first: spelled(first, GIVEN, domain), last: spelled(last, FAMILY, domain) };
  return forms.first.length > 0 && forms.last.length > 0 ? forms : null;
};

/** Why no address can be made of a name. */
export type NameFault = "missing" | "no_letters" | "other_script";

export const findNameFaults = ({ first, last }: Person) => ({
  first: findFault(first, GIVEN),
  last: findFault(last, FAMILY),
});

const findFault = (name: string, ways: Ways): NameFault | null => {
  if (spelled(name, ways, "").length > 0) return null;
  if (/\p{L}/u.test(name)) return "other_script";
  return /[^\p{Z}\p{C}]/u.test(name) ? "no_letters" : "missing";
};

/** Whether the two look as if they stood in each other's place: both are known, and neither as what it should be. */
export const looksSwapped = ({ first, last }: Person): boolean =>
  isOnly(first, family, given) && isOnly(last, given, family);

const given: ReadonlySet<string> = new Set(GIVEN_NAMES);
const family: ReadonlySet<string> = new Set(FAMILY_NAMES);

const isOnly = (name: string, among: ReadonlySet<string>, not: ReadonlySet<string>): boolean => {
  const spellings = (["plain", "digraphs"] as const).map((habit) => joined(wordsOf(name, habit)));
  return spellings.some((text) => among.has(text)) && !spellings.some((text) => not.has(text));
};

/** One word of a name, or what a hyphen joins. */
type Word = readonly string[];

type Way = readonly [join: (words: readonly Word[]) => string, weight: number];

/** By what a name is made of: how its parts go into one local part. The weights are judgements (docs/scores.md). */
type Ways = { readonly hyphenated: readonly Way[]; readonly several: readonly Way[] };

const joined = (words: readonly Word[]): string => words.flat().join("");
const hyphened = (words: readonly Word[]): string => words.flat().join("-");
const dotted = (words: readonly Word[]): string => words.flat().join(".");
const firstOf = (words: readonly Word[]): string => words.flat()[0] ?? "";
const lastOf = (words: readonly Word[]): string => words.flat().at(-1) ?? "";
const withoutParticles = (words: readonly Word[]): string =>
  joined(words.map((word) => word.slice(particlesIn(word))).slice(particleWordsIn(words)));

const GIVEN: Ways = {
  hyphenated: [
    [hyphened, 0.45],
    [joined, 0.3],
    [firstOf, 0.25],
  ],
  several: [
    [firstOf, 0.65],
    [joined, 0.2],
    [hyphened, 0.15],
  ],
};

const FAMILY: Ways = {
  hyphenated: [
    [hyphened, 0.5],
    [joined, 0.3],
    [firstOf, 0.1],
    [lastOf, 0.1],
  ],
  several: [
    [firstOf, 0.4],
    [joined, 0.25],
    [hyphened, 0.2],
    [lastOf, 0.15],
  ],
};

/** In an address, some of these are given names or words of their own; of a family name they are the beginning. */
const BEGINNINGS: ReadonlySet<string> = new Set([
  ...PARTICLES,
  ..."abu bar bat ben bint ibn ni nic san santa santo dalla dello lo vom zum zur af".split(" "),
]);

/** Van der Berg, Al-Hashimi. */
const WITH_PARTICLES: readonly Way[] = [
  [joined, 0.55],
  [withoutParticles, 0.2],
  [hyphened, 0.15],
  [dotted, 0.1],
];

/** Da Silva Santos: countries differ in which of the names somebody goes by. */
const WITH_PARTICLES_AND_SEVERAL: readonly Way[] = [
  [lastOf, 0.35],
  [(words) => joined(words.slice(0, particleWordsIn(words) + 1)), 0.3],
  [(words) => words[particleWordsIn(words)]?.at(-1) ?? "", 0.2],
  [joined, 0.15],
];

/** Where the umlaut is a letter of the language and not an ornament. */
const DIGRAPH_COUNTRIES: ReadonlySet<string> = new Set(["de", "at", "ch", "li"]);

const spelled = (written: string, ways: Ways, domain: string): readonly Form[] => {
  const name = ways === FAMILY ? written.normalize("NFC").replaceAll(PARTED, "$1") : written;
  const digraphs = DIGRAPH_COUNTRIES.has(domain.slice(domain.lastIndexOf(".") + 1)) ? 0.75 : 0.35;
  return summed([
    ...waysOf(wordsOf(name, "plain"), ways, 1 - digraphs),
    ...waysOf(wordsOf(name, "digraphs"), ways, digraphs),
  ]);
};

const waysOf = (words: readonly Word[], ways: Ways, weight: number): readonly Form[] =>
  waysFor(words, ways).map(([join, share]) => ({ text: join(words), weight: share * weight }));

const waysFor = (words: readonly Word[], ways: Ways): readonly Way[] => {
  if (words.flat().length < 2) return [[joined, 1]];
  const hasParticles = particleWordsIn(words) > 0 || particlesIn(words[0] ?? []) > 0;
  if (ways === FAMILY && hasParticles)
    return words.length - particleWordsIn(words) > 1 ? WITH_PARTICLES_AND_SEVERAL : WITH_PARTICLES;
  return words.length === 1 ? ways.hyphenated : ways.several;
};

/** How many words in front are particles. The last word is the name itself, whatever it looks like. */
const particleWordsIn = (words: readonly Word[]): number => {
  const count = words.findIndex((word) => word.length > 1 || !BEGINNINGS.has(word[0] ?? ""));
  return count === -1 ? words.length - 1 : count;
};

const particlesIn = (word: Word): number =>
  word.length > 1 && BEGINNINGS.has(word[0] ?? "") ? 1 : 0;

const summed = (forms: readonly Form[]): readonly Form[] => {
  const weights = new Map<string, number>();
  for (const { text, weight } of forms)
    if (text !== "") weights.set(text, (weights.get(text) ?? 0) + weight);
  return [...weights].map(([text, weight]) => ({ text, weight }));
};

/** No part of anybody's address. */
const TITLES: ReadonlySet<string> = new Set(
  "dr prof mr mrs ms miss herr frau sir dame jr sr ii iii iv phd ph md mba esq".split(" "),
);
const APOSTROPHES = /['’‘ʼʹ`´]/g;
/** The beginning of a family name, where a space stands behind it: O Brien, D' Souza, 't Hooft, Mc Donald, St. John. */
const PARTED = /(?<=^|\s)(['’‘ʼʹ`´]t|\p{L}(?=['’‘ʼʹ`´])|[oó]|ma?c|st)[.'’‘ʼʹ`´]*\s+(?=\p{L})/giu;

const wordsOf = (name: string, habit: Habit): readonly Word[] => {
  const words = inPlainLetters(name.replaceAll(APOSTROPHES, ""), habit)
    .split(/[\s.,_/()]+/)
    .map((word) =>
      word
        .split(/[-‐-―]/)
        .map(onlyLetters)
        .filter(Boolean),
    )
    .filter((word) => word.length > 0);
  const untitled = orAll(words, (word) => !TITLES.has(word.join("-")));
  return orAll(untitled, (word) => joined([word]).length > 1);
};

/** Those that fit; where none does, what there is must do: a Mr. Sir is called so, and an X is an X. */
const orAll = (words: readonly Word[], fits: (word: Word) => boolean): readonly Word[] => {
  const fitting = words.filter(fits);
  return fitting.length > 0 ? fitting : words;
};

const onlyLetters = (text: string): string => text.replaceAll(/[^a-z]/g, "");
