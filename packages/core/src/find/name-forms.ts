import { FAMILY_NAMES, GIVEN_NAMES } from "../signals/name-words.ts";
import { PARTICLES } from "../signals/person-name.ts";
import { type SpellingStyle, transliterate } from "./transliterate.ts";

export type Person = { readonly first: string; readonly last: string };

/** One way in which a name may stand in a local part, and its likelihood: those of one name add up to 1. */
export type NameForm = { readonly text: string; readonly weight: number };

export type PersonForms = {
  readonly first: readonly NameForm[];
  readonly last: readonly NameForm[];
};

/** Every way in which this person's names may be written, or null when one of them has no usable letters. */
export const listNameForms = ({ first, last }: Person, domain: string): PersonForms | null => {
  const forms = {
    first: listSpellings(first, GIVEN, domain),
    last: listSpellings(last, FAMILY, domain),
  };
  return forms.first.length > 0 && forms.last.length > 0 ? forms : null;
};

/** Why no address can be made of a name. */
export type NameFault = "missing" | "no_letters" | "other_script";

export const findNameFaults = ({ first, last }: Person) => ({
  first: findFault(first, GIVEN),
  last: findFault(last, FAMILY),
});

const findFault = (name: string, rules: JoinRules): NameFault | null => {
  if (listSpellings(name, rules, "").length > 0) return null;
  if (/\p{L}/u.test(name)) return "other_script";
  return /[^\p{Z}\p{C}]/u.test(name) ? "no_letters" : "missing";
};

/** Whether first and last name look swapped: both are known names, and each only as the other. */
export const looksSwapped = ({ first, last }: Person): boolean =>
  isOnly(first, familyNames, givenNames) && isOnly(last, givenNames, familyNames);

const givenNames: ReadonlySet<string> = new Set(GIVEN_NAMES);
const familyNames: ReadonlySet<string> = new Set(FAMILY_NAMES);

const isOnly = (name: string, among: ReadonlySet<string>, not: ReadonlySet<string>): boolean => {
  const spellings = (["plain", "digraphs"] as const).map((style) =>
    joinWords(splitName(name, style)),
  );
  return spellings.some((text) => among.has(text)) && !spellings.some((text) => not.has(text));
};

/** One word of a name, or what a hyphen joins. */
type Word = readonly string[];

type JoinRule = readonly [join: (words: readonly Word[]) => string, weight: number];

/** How the parts of a name go into one local part. The weights are judgements (docs/scores.md). */
type JoinRules = {
  readonly hyphenated: readonly JoinRule[];
  readonly several: readonly JoinRule[];
};

const joinWords = (words: readonly Word[]): string => words.flat().join("");
const hyphenateWords = (words: readonly Word[]): string => words.flat().join("-");
const dotWords = (words: readonly Word[]): string => words.flat().join(".");
const getFirstWord = (words: readonly Word[]): string => words.flat()[0] ?? "";
const getLastWord = (words: readonly Word[]): string => words.flat().at(-1) ?? "";
const joinWithoutParticles = (words: readonly Word[]): string =>
  joinWords(words.map((word) => word.slice(countParticles(word))).slice(countParticleWords(words)));

const GIVEN: JoinRules = {
  hyphenated: [
    [hyphenateWords, 0.45],
    [joinWords, 0.3],
    [getFirstWord, 0.25],
  ],
  several: [
    [getFirstWord, 0.65],
    [joinWords, 0.2],
    [hyphenateWords, 0.15],
  ],
};

const FAMILY: JoinRules = {
  hyphenated: [
    [hyphenateWords, 0.5],
    [joinWords, 0.3],
    [getFirstWord, 0.1],
    [getLastWord, 0.1],
  ],
  several: [
    [getFirstWord, 0.4],
    [joinWords, 0.25],
    [hyphenateWords, 0.2],
    [getLastWord, 0.15],
  ],
};

/** In an address, some of these are given names or words of their own; in a family name they are its beginning. */
const BEGINNINGS: ReadonlySet<string> = new Set([
  ...PARTICLES,
  ..."abu bar bat ben bint ibn ni nic san santa santo dalla dello lo vom zum zur af".split(" "),
]);

/** Van der Berg, Al-Hashimi. */
const WITH_PARTICLES: readonly JoinRule[] = [
  [joinWords, 0.55],
  [joinWithoutParticles, 0.2],
  [hyphenateWords, 0.15],
  [dotWords, 0.1],
];

/** Da Silva Santos: countries differ in which of the names a person uses. */
const WITH_PARTICLES_AND_SEVERAL: readonly JoinRule[] = [
  [getLastWord, 0.35],
  [(words) => joinWords(words.slice(0, countParticleWords(words) + 1)), 0.3],
  [(words) => words[countParticleWords(words)]?.at(-1) ?? "", 0.2],
  [joinWords, 0.15],
];

/** Countries where the umlaut is a letter of the language and not an ornament. */
const DIGRAPH_COUNTRIES: ReadonlySet<string> = new Set(["de", "at", "ch", "li"]);

const listSpellings = (typed: string, rules: JoinRules, domain: string): readonly NameForm[] => {
  const name = rules === FAMILY ? typed.normalize("NFC").replaceAll(SPLIT_PREFIX, "$1") : typed;
  const digraphs = DIGRAPH_COUNTRIES.has(domain.slice(domain.lastIndexOf(".") + 1)) ? 0.75 : 0.35;
  return mergeForms([
    ...applyRules(splitName(name, "plain"), rules, 1 - digraphs),
    ...applyRules(splitName(name, "digraphs"), rules, digraphs),
  ]);
};

const applyRules = (
  words: readonly Word[],
  rules: JoinRules,
  weight: number,
): readonly NameForm[] =>
  chooseRules(words, rules).map(([join, share]) => ({ text: join(words), weight: share * weight }));

const chooseRules = (words: readonly Word[], rules: JoinRules): readonly JoinRule[] => {
  if (words.flat().length < 2) return [[joinWords, 1]];
  const hasParticles = countParticleWords(words) > 0 || countParticles(words[0] ?? []) > 0;
  if (rules === FAMILY && hasParticles)
    return words.length - countParticleWords(words) > 1
      ? WITH_PARTICLES_AND_SEVERAL
      : WITH_PARTICLES;
  return words.length === 1 ? rules.hyphenated : rules.several;
};

/** How many words in front are particles. The last word is the name itself, even if it looks like one. */
const countParticleWords = (words: readonly Word[]): number => {
  const count = words.findIndex((word) => word.length > 1 || !BEGINNINGS.has(word[0] ?? ""));
  return count === -1 ? words.length - 1 : count;
};

const countParticles = (word: Word): number =>
  word.length > 1 && BEGINNINGS.has(word[0] ?? "") ? 1 : 0;

const mergeForms = (forms: readonly NameForm[]): readonly NameForm[] => {
  const weights = new Map<string, number>();
  for (const { text, weight } of forms)
    if (text !== "") weights.set(text, (weights.get(text) ?? 0) + weight);
  return [...weights].map(([text, weight]) => ({ text, weight }));
};

/** Titles, which are in no address. */
const TITLES: ReadonlySet<string> = new Set(
  "dr prof mr mrs ms miss herr frau sir dame jr sr ii iii iv phd ph md mba esq".split(" "),
);
const APOSTROPHES = /['’‘ʼʹ`´]/g;
/** The beginning of a family name before a space: O Brien, D' Souza, 't Hooft, Mc Donald, St. John. */
const SPLIT_PREFIX =
  /(?<=^|\s)(['’‘ʼʹ`´]t|\p{L}(?=['’‘ʼʹ`´])|[oó]|ma?c|st)[.'’‘ʼʹ`´]*\s+(?=\p{L})/giu;

const splitName = (name: string, style: SpellingStyle): readonly Word[] => {
  const words = transliterate(name.replaceAll(APOSTROPHES, ""), style)
    .split(/[\s.,_/()]+/)
    .map((word) =>
      word
        .split(/[-‐-―]/)
        .map(removeNonLetters)
        .filter(Boolean),
    )
    .filter((word) => word.length > 0);
  const untitled = filterOrAll(words, (word) => !TITLES.has(word.join("-")));
  return filterOrAll(untitled, (word) => joinWords([word]).length > 1);
};

/** The words that fit; or all where none does: a Mr. Sir is called so, and an X is an X. */
const filterOrAll = (words: readonly Word[], fits: (word: Word) => boolean): readonly Word[] => {
  const fitting = words.filter(fits);
  return fitting.length > 0 ? fitting : words;
};

const removeNonLetters = (text: string): string => text.replaceAll(/[^a-z]/g, "");
