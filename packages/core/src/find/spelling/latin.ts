import type { Weighted } from "../weighted.ts";
import { removeAccents } from "./alphabets.ts";

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
export const spellLatin = (word: string, country: string): readonly Weighted<string>[] => {
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
