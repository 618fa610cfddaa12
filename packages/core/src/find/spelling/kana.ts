import type { Weighted } from "../weighted.ts";
import { type Alphabet, parseAlphabet, parseRows, readWord } from "./alphabets.ts";

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

export const spellKana = (word: string): readonly Weighted<string>[] =>
  readWord(
    word.replaceAll(KATAKANA, (letter) =>
      String.fromCharCode(letter.charCodeAt(0) - KANA_BLOCKS_APART),
    ),
    KANA,
  );
