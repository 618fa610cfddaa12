import type { Person } from "../person.ts";
import type { Weighted } from "../weighted.ts";
import { ARMENIAN, GEORGIAN, GREEK, readWord } from "./alphabets.ts";
import { guessCyrillicLanguage, spellCyrillic } from "./cyrillic.ts";
import type { CyrillicLanguage } from "./cyrillic-letters.ts";
import { spellDevanagari } from "./devanagari.ts";
import { guessHanReading, type HanReading, spellHan } from "./han.ts";
import { spellHangul } from "./hangul.ts";
import { spellKana } from "./kana.ts";
import { spellLatin } from "./latin.ts";

/** The reading of a name's letters, which depends on its language; the name does not show the language. */
export type Reading = {
  /** The last label of the domain, such as the country "de". */
  readonly country: string;
  readonly cyrillic: CyrillicLanguage;
  readonly han: HanReading;
};

export const guessReading = (person: Person, domain: string): Reading => {
  const country = domain.slice(domain.lastIndexOf(".") + 1);
  const folded = { first: foldName(person.first), last: foldName(person.last) };
  return {
    country,
    cyrillic: guessCyrillicLanguage(
      `${folded.first} ${folded.last}`,
      folded.first.split(/[\s-]+/),
      country,
    ),
    han: guessHanReading({ first: folded.first.trim(), last: folded.last.trim() }, country),
  };
};

export const foldName = (text: string): string =>
  text.normalize("NFKC").toLowerCase().normalize("NFC");

/** One way to write a word in a to z; several texts are its syllables. A word with unsupported letters has no spelling. */
export type Spelling = Weighted<readonly string[]>;

type Speller = (word: string, as: "first" | "last", reading: Reading) => readonly Spelling[];

const asOneText =
  (
    spell: (word: string, as: "first" | "last", reading: Reading) => readonly Weighted<string>[],
  ): Speller =>
  (word, as, reading) =>
    spell(word, as, reading).map(({ value, weight }) => ({ value: [value], weight }));

/** An accent before a plain second vowel separates the two vowels, as two dots do. */
const GREEK_HIATUS = /(?<=[άέό])υ/g;

const SCRIPTS: readonly (readonly [RegExp, Speller])[] = [
  [/\p{Script=Latin}/u, asOneText((word, _, { country }) => spellLatin(word, country))],
  [
    /\p{Script=Cyrillic}/u,
    asOneText((word, as, { cyrillic }) => spellCyrillic(word, as, cyrillic)),
  ],
  [/\p{Script=Greek}/u, asOneText((word) => readWord(word.replaceAll(GREEK_HIATUS, "ϋ"), GREEK))],
  [/\p{Script=Armenian}/u, asOneText((word) => readWord(word, ARMENIAN))],
  [/\p{Script=Georgian}/u, asOneText((word) => readWord(word, GEORGIAN))],
  [/\p{Script=Devanagari}/u, asOneText((word) => spellDevanagari(word))],
  [/\p{Script=Hangul}/u, (word, as) => spellHangul(word, as)],
  [/\p{Script=Han}/u, (word, as, { han }) => spellHan(word, as, han)],
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, asOneText((word) => spellKana(word))],
];

/** A single letter without a sound, such as ь, is not a name. */
export const spellWord: Speller = (word, as, reading) => {
  const spell = SCRIPTS.find(([letters]) => letters.test(word))?.[1];
  return spell?.(word, as, reading).filter(({ value }) => value.join("") !== "") ?? [];
};

/** In these scripts one letter is a syllable and may be a whole name. */
const SYLLABIC = /[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

export const isSyllabic = (text: string): boolean => SYLLABIC.test(text);
