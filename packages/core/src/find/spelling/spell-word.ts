import type { Weighted } from "../weighted.ts";
import {
  type Alphabet,
  ARMENIAN,
  GEORGIAN,
  GREEK,
  parseAlphabet,
  parseRows,
  readWord,
  removeAccents,
} from "./alphabets.ts";
import { CYRILLIC, type CyrillicLanguage } from "./cyrillic-letters.ts";
import { spellDevanagari } from "./devanagari.ts";
import { guessHanReading, type HanReading, spellHan } from "./han.ts";
import { spellHangul } from "./hangul.ts";
import { getTables } from "./tables.ts";

/** The names as the client sends them: with titles, middle names and initials, in any script. */
export type Person = { readonly first: string; readonly last: string };

/** Letters and endings that only one language uses, the rarest first. Kazakh and its neighbours are read as Russian. */
const BY_LETTER: readonly (readonly [RegExp, CyrillicLanguage])[] = [
  [/[әғқңөұүһ]/, "ru"],
  [/[ѓќѕ]/, "mk"],
  [/[ђћљњџј]/, "sr"],
  [/ў|^(?=.*і)(?=.*[ыэё])/s, "be"],
  [/[іїєґ]/, "uk"],
  [/[ыэё]/, "ru"],
  [/[сц]ьк(?:ий|а)(?!\p{L})/u, "uk"],
  [/ъ(?![еёюя])/, "bg"],
];

const BY_COUNTRY: Readonly<Record<string, CyrillicLanguage>> = {
  ua: "uk",
  bg: "bg",
  rs: "sr",
  me: "sr",
  ba: "sr",
  mk: "mk",
};

const CYRILLIC_LETTER = /\p{Script=Cyrillic}/u;

const LANGUAGES = Object.keys(CYRILLIC) as readonly CyrillicLanguage[];

/** Guesses by the letters of both names, then by a given name of only one language, then by the domain's country. */
const guessCyrillicLanguage = (
  names: string,
  given: readonly string[],
  country: string,
): CyrillicLanguage => {
  if (!CYRILLIC_LETTER.test(names)) return "ru";
  const byLetter = BY_LETTER.find(([letters]) => letters.test(names))?.[1];
  if (byLetter) return byLetter;
  const tables = getTables().cyrillic;
  const knowing = LANGUAGES.filter((one) => given.some((name) => tables[one].has(name)));
  const byCountry = BY_COUNTRY[country];
  if (byCountry && (knowing.length === 0 || knowing.includes(byCountry))) return byCountry;
  return knowing[0] ?? "ru";
};

/** Spells a known given name as people do, and any other word letter by letter. */
const spellCyrillic = (
  word: string,
  as: "first" | "last",
  language: CyrillicLanguage,
): readonly Weighted<string>[] =>
  (as === "first" ? getTables().cyrillic[language].get(word) : undefined) ??
  readWord(word, CYRILLIC[language]);

/** Letters that the removal of accents does not change. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ħ: "h",
  ı: "i",
  ŧ: "t",
  ŋ: "ng",
  ə: "a",
  ɓ: "b",
  ɖ: "d",
  ɗ: "d",
  ƙ: "k",
  ƴ: "y",
  ɔ: "o",
  ɛ: "e",
  ǝ: "e",
};

const DIGRAPHS: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", å: "aa", ø: "oe" };

/** Countries whose languages count the umlaut as a letter of its own. */
const DIGRAPH_COUNTRIES: ReadonlySet<string> = new Set(["de", "at", "ch", "li"]);

/** A German Müller is mueller or muller, and only the mail server knows which. */
const spellLatin = (word: string, country: string): readonly Weighted<string>[] => {
  const plain = toPlain(word, {});
  const digraphs = toPlain(word, DIGRAPHS);
  if (plain === "") return [];
  const share = DIGRAPH_COUNTRIES.has(country) ? 0.75 : 0.35;
  return plain === digraphs
    ? [{ value: plain, weight: 1 }]
    : [
        { value: plain, weight: 1 - share },
        { value: digraphs, weight: share },
      ];
};

const toPlain = (word: string, digraphs: Readonly<Record<string, string>>): string =>
  removeAccents(
    Array.from(
      word,
      (letter) => digraphs[letter] ?? PLAIN[letter] ?? PLAIN[removeAccents(letter)] ?? letter,
    ).join(""),
  ).replaceAll(/[^a-z]/g, "");

/** Decides how to read a name's letters. The name does not show its language, so this is a guess. */
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

/** Hepburn romanisation, as in Japanese passports, without marks for long vowels. Katakana are read as hiragana. */
const SYLLABLES = parseRows(
  "あ a い i う u え e お o か ka き ki く ku け ke こ ko が ga ぎ gi ぐ gu げ ge ご go " +
    "さ sa し shi す su せ se そ so ざ za じ ji ず zu ぜ ze ぞ zo た ta ち chi つ tsu て te と to " +
    "だ da ぢ ji づ zu で de ど do な na に ni ぬ nu ね ne の no は ha ひ hi ふ fu へ he ほ ho " +
    "ば ba び bi ぶ bu べ be ぼ bo ぱ pa ぴ pi ぷ pu ぺ pe ぽ po ま ma み mi む mu め me も mo " +
    "や ya ゆ yu よ yo ら ra り ri る ru れ re ろ ro わ wa ゐ i ゑ e を o ん n ゔ vu " +
    "ふぁ fa ふぃ fi ふぇ fe ふぉ fo うぃ wi うぇ we うぉ wo てぃ ti でぃ di とぅ tu どぅ du " +
    "しぇ she じぇ je ちぇ che ゔぁ va ゔぃ vi ゔぇ ve ゔぉ vo つぁ tsa いぇ ye ヶ ga ヵ ka",
);

/** The consonants of き and its row before a small や, ゆ, よ. */
const SOFT = parseRows("き ky ぎ gy し sh じ j ち ch ぢ j に ny ひ hy び by ぴ py み my り ry");
const SMALL = parseRows("ゃ a ゅ u ょ o");

const listSoftSyllables = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(SOFT).flatMap(([kana, sound]) =>
      Object.entries(SMALL).map(([small, vowel]) => [kana + small, sound + vowel]),
    ),
  );

const SHORT: Readonly<Record<string, string>> = { ...SYLLABLES, ...listSoftSyllables() };

/** おう and うう are mostly one long vowel, and so is おお; but 井上 is inoue, and 大野 is also ohno. */
const listLongSyllables = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(SHORT).flatMap(([kana, sound]) => {
      if (sound.endsWith("o"))
        return [
          [`${kana}う`, `${sound} 72 ${sound}u 28`],
          [`${kana}お`, `${sound} 65 ${sound}o 20 ${sound}h 15`],
          [`${kana}うえ`, `${sound}ue`],
        ];
      return sound.endsWith("u") ? [[`${kana}う`, `${sound} 72 ${sound}u 28`]] : [];
    }),
  );

/** A small っ doubles the following letter, and older passports write ん as m before b, m and p. */
const listDoubledSyllables = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(SHORT).flatMap(([kana, sound]) => {
      if (/^[bmp]/.test(sound))
        return [
          [`ん${kana}`, `n${sound} 55 m${sound} 45`],
          [`っ${kana}`, sound.slice(0, 1) + sound],
        ];
      if (/^[aiueony]/.test(sound)) return [];
      return [[`っ${kana}`, (sound.startsWith("ch") ? "t" : sound.slice(0, 1)) + sound]];
    }),
  );

const KANA: Alphabet = parseAlphabet({
  ...SHORT,
  ...listLongSyllables(),
  ...listDoubledSyllables(),
  ー: "-",
  っ: "-",
});

const KATAKANA = /[ァ-ヴ]/g;
const KANA_BLOCKS_APART = 0x60;

const spellKana = (word: string): readonly Weighted<string>[] =>
  readWord(
    word.replaceAll(KATAKANA, (letter) =>
      String.fromCharCode(letter.charCodeAt(0) - KANA_BLOCKS_APART),
    ),
    KANA,
  );
